"""A store as a few weeks of use leave it: tasks that pass, flake and fail, tool calls, verdicts, outcomes, spans.

Times are relative to `now`, values are not random: the same call gives the same store.
"""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

from collector.store.records import Grading
from collector.store.rows import Batch, SpanRow, span_row
from collector.store.store import Store
from graders.verdict import Verdict
from semconv.facts import Facts
from semconv.outcome import Outcome
from semconv.span import Resource, Scope, Span
from semconv.trace_line import TraceLine
from tests.support.stores import SECOND, graded

HOUR_NS = 3600 * SECOND
# Passed of ten: what makes a dashboard worth looking at.
TASKS = {
    "fix-rounding": 10,
    "add-retry": 9,
    "rename-flag": 9,
    "bump-deps": 8,
    "flaky-cache": 6,
    "cross-repo": 4,
    "port-to-async": 2,
    "rewrite-parser": 0,
    "docs-typo": 10,
    "migrate-db": 7,
}
TOOLS = (
    ("Bash", "test_run", 1800.0),
    ("Edit", "edit", 12.0),
    ("Read", "read", 0.4),
    ("mcp__github__get_issue", "network", 420.0),
)
SLOS = [
    {
        "name": "coding agent",
        "task": None,
        "class": "coding",
        "k": 3,
        "target": 0.6,
        "min_n": 5,
        "windows": [{"long": 21600, "short": 3600, "burn": 2.0}, {"long": 259200, "short": 21600, "burn": 1.0}],
    },
    {
        "name": "docs",
        "task": "docs-typo",
        "class": None,
        "k": 1,
        "target": 0.95,
        "min_n": 3,
        "windows": [{"long": 259200, "short": 21600, "burn": 1.0}],
    },
]


def fill(store: Store, now: dt.datetime, days: int = 14) -> None:
    """Runs every two hours for each task in turn, over `days` up to an hour before `now`."""
    end_ns = int(now.timestamp()) * SECOND - HOUR_NS
    store.register_checks("checks-one", "[]")
    store.register_checks("checks-two", "[]")
    gradings, rows, outcomes = [], [], []
    for number in range(days * 24):
        for place, (task, passed) in enumerate(TASKS.items()):
            if (number + place) % 2:
                continue
            ended = end_ns - number * HOUR_NS - place * 97 * SECOND
            made = run(f"{task}-{number}", task, (number * 7 + place) % 10 < passed, ended, number)
            gradings.append(made)
            if number < 48:
                rows += spans_of(made)
            if place % 3 == 0:
                outcomes.append(("default", Outcome(made.run.run_id, made.trial.result, "environment", time_ns=ended)))
    gradings.append(
        graded("open-one", "pending", end_ns, task_id="add-retry", closed_by="", started_ns=end_ns - HOUR_NS)
    )
    store.insert(Batch(rows, []))
    for start in range(0, len(gradings), 500):
        store.write_gradings(gradings[start : start + 500])
    store.add_outcomes(outcomes[:200])
    store.set_policy(slos=json.dumps(SLOS))


def run(run_id: str, task: str, good: bool, ended: int, number: int) -> Grading:
    """One run; every eleventh ends in an infrastructure error, every thirteenth is a right answer by a wrong path."""
    error = number % 11 == 10
    result = "error" if error else "pass" if good else "fail"
    bad_path = good and number % 13 == 12
    verdicts = (
        Verdict(
            "tests-after-last-edit",
            "response",
            "pass" if good else "fail",
            "tests ran at 7, the last edit is 6",
            lines=(6, 7),
            gate=True,
        ),
        Verdict(
            "no-loop", "loop", "fail" if number % 9 == 0 else "pass", "Bash with the same command 4 times", lines=(3, 4)
        ),
        Verdict("broken", "python", "error" if number % 50 == 0 else "not_applicable", "KeyError: 'path'"),
    )
    actions_of = {tool: action for tool, action, _ in TOOLS}
    told = lines(ended, number, good)
    return graded(
        run_id,
        result,
        ended,
        task_id=task,
        task_version="2" if number < 200 else "1",
        task_class="coding",
        service="agent",
        service_version="1.4" if number < 100 else "1.3",
        environment="prod",
        agent="coder" if number % 3 else "planner",
        model="model-a" if number % 4 else "model-b",
        lines=told,
        tool_calls=sum(one.role == "assistant" for one in told),
        verdicts=verdicts,
        outcome=result if result in ("pass", "fail") else "",
        basis="outcome",
        trajectory="fail" if bad_path else "pass" if good else "fail",
        calls="pass",
        checks_version="checks-two",
        epoch=2,
        trace_ids=(trace_id(run_id),),
        actions={line.n: (actions_of[line.tool],) for line in told if line.role == "assistant"},
        reason="timeout" if error else "",
        flags=("late_span",) if number % 40 == 0 else (),
        cost_usd=0.01 * (1 + number % 5),
        input_tokens=1000 + number,
        output_tokens=200,
        turns=3,
    )


def lines(ended: int, number: int, good: bool) -> tuple[TraceLine, ...]:
    made: list[TraceLine] = [
        TraceLine(n=1, role="user", text=f"do it, please ({number})", start_ns=ended - 60 * SECOND)
    ]
    looping = number % 9 == 0
    for step in range(2 + number % 5 + 4 * looping):
        tool, _, duration_ms = TOOLS[0 if looping else (number + step) % len(TOOLS)]
        start = ended - (55 - step * 5) * SECOND
        stop = start + int(duration_ms * (1 + step) * 1_000_000)
        failed = not good and step == 1
        told: dict[str, Any] = {
            "tool": tool,
            "call_id": f"c{step}",
            "status": "error" if failed else "ok",
            "start_ns": start,
            "end_ns": stop,
            "agent": "coder",
            "model": "model-a",
        }
        n = len(made) + 1
        command = {"command": "pytest -q"} if tool == "Bash" else {"path": f"src/file{step}.py"}
        error = "exit code 1: 2 failed" if failed else ""
        made.append(TraceLine(n=n, role="assistant", input=command, input_state="object", error=error, **told))
        made.append(TraceLine(n=n + 1, role="tool", output="2 failed" if failed else "ok", error=error, **told))
    made.append(TraceLine(n=len(made) + 1, role="result", subtype="success" if good else "error", end_ns=ended))
    return tuple(made)


def spans_of(made: Grading) -> list[SpanRow]:
    """A root and a span for each call, half a millisecond apart, one with an odd attribute."""
    run = made.run
    resource = Resource({"service.name": "agent", "service.version": run.service_version, "host.name": "box <1>"})
    scope = Scope("agent", "1")
    trace, root = trace_id(run.run_id), "00000000000000aa"
    shape: dict[str, Any] = {"kind": 1, "status_code": 0, "status_message": "", "events": (), "links": ()}
    shape |= {"resource": resource, "scope": scope}
    made_spans = [
        (
            Span(
                trace,
                root,
                "",
                name="invoke_agent coder",
                start_ns=run.started_ns,
                end_ns=run.ended_ns,
                attributes={"gen_ai.operation.name": "invoke_agent", "n": 1, "odd": "<b>it's</b>"},
                **shape,
            ),
            Facts(operation="agent", dialect="otel_genai", agent="coder"),
        )
    ]
    for line in run.lines:
        if line.role == "assistant":
            one = Span(
                trace,
                f"{line.n:016x}",
                root,
                name=f"execute_tool {line.tool}",
                start_ns=line.start_ns + 123_456,
                end_ns=line.end_ns + 123_456,
                attributes={"gen_ai.tool.name": line.tool},
                **shape,
            )
            made_spans.append((one, Facts(operation="tool", dialect="otel_genai", tool=line.tool or "")))
    return [span_row("default", run.ended_ns + SECOND, span, facts) for span, facts in made_spans]


def trace_id(run_id: str) -> str:
    return f"{abs(hash_of(run_id)):032x}"


def hash_of(text: str) -> int:
    """The same in every process, unlike hash()."""
    return int.from_bytes(text.encode()[-12:].rjust(12, b"\1"), "big")
