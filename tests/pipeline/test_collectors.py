"""Several collectors on one store, without a shared clock or lock: they say what one collector would.

Every span is its own request to a collector drawn at random; one of them is killed and comes back; what it did not
acknowledge goes to another, and a part of everything is sent twice. The store is a ClickHouse HTTP front.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx

from tests.support.serving import Serving, until
from tests.support.stores import Front

RUNS = 12  # three of each task: as few as have a pass^3
TASKS = ("book", "cancel", "refund", "search")
BASE_NS = time.time_ns() - 3_600_000_000_000
SECOND = 1_000_000_000


def text(key: str, value: str) -> dict[str, Any]:
    return {"key": key, "value": {"stringValue": value}}


def request(span: dict[str, Any]) -> dict[str, Any]:
    resource = {"attributes": [text("service.name", "agent"), text("service.version", "2")]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "test"}, "spans": [span]}]}]}


def spans_of(number: int) -> list[dict[str, Any]]:
    """A run: its root, an edit, sometimes the tests after it, and a repeated call now and then."""
    trace, begin = f"{number + 1:032x}", BASE_NS + number * 10 * SECOND
    task = TASKS[number % len(TASKS)]
    outcome = "pass" if number % 3 else "fail"
    root = {
        "traceId": trace,
        "spanId": f"{1:016x}",
        "name": "invoke_agent coder",
        "kind": 1,
        "startTimeUnixNano": str(begin),
        "endTimeUnixNano": str(begin + 9 * SECOND),
        "attributes": [
            text("gen_ai.operation.name", "invoke_agent"),
            text("passhat.task.id", task),
            text("passhat.task.version", "1"),
            text("passhat.outcome", outcome),
        ],
    }
    calls = [("Edit", '{"file_path": "a.py"}'), ("Bash", '{"command": "pytest -q"}')][: 1 + number % 2]
    calls += [("Read", '{"file_path": "a.py"}')] * (number % 4)
    return [root] + [
        {
            "traceId": trace,
            "spanId": f"{place + 2:016x}",
            "parentSpanId": f"{1:016x}",
            "name": f"execute_tool {tool}",
            "kind": 1,
            "startTimeUnixNano": str(begin + (place + 1) * SECOND),
            "endTimeUnixNano": str(begin + (place + 1) * SECOND + 1000),
            "attributes": [
                text("gen_ai.operation.name", "execute_tool"),
                text("gen_ai.tool.name", tool),
                text("gen_ai.tool.call.id", f"c{number}-{place}"),
                text("gen_ai.tool.call.arguments", arguments),
            ],
        }
        for place, (tool, arguments) in enumerate(calls)
    ]


def send(collectors: list[Serving], span: dict[str, Any], draw: random.Random) -> None:
    """To one at random; to another when it does not acknowledge."""
    for at in draw.sample(collectors, len(collectors)):
        try:
            if at.post_traces(request(span)).status_code == 200:
                return
        except httpx.HTTPError:
            continue
    raise AssertionError("no collector acknowledged it")


def told(at: Serving) -> dict[str, Any]:
    """What people see: runs with their verdicts, and rates."""
    runs = at.get("/api/v1/runs", limit=1000)["runs"]
    shown = {}
    for run in runs:
        whole = at.get(f"/api/v1/runs/{run['run_id']}")
        verdicts = sorted((verdict["check_id"], verdict["status"], verdict["reason"]) for verdict in whole["verdicts"])
        lines = [(line["n"], line["role"], line.get("tool"), line.get("status")) for line in whole["lines"]]
        facts = {key: run[key] for key in ("task_id", "task_version", "result", "reason", "tool_calls", "ended")}
        shown[run["run_id"]] = {**facts, "verdicts": verdicts, "lines": lines}
    rates = at.get("/api/v1/reliability", window="7d", k="1,3")
    tasks = sorted(rates["tasks"], key=lambda task: str(task["task_id"]))
    return {"runs": shown, "tasks": tasks, "suite": rates["suite"]}


def settled(collectors: list[Serving]) -> dict[str, Any]:
    """All that was acknowledged is stored and graded; no two answers differ any more."""
    for at in collectors:
        at.drained()

    def complete(runs: list[dict[str, Any]]) -> bool:
        return len(runs) == RUNS and {run["result"] for run in runs} <= {"pass", "fail"}

    until(lambda: collectors[0].get("/api/v1/runs", limit=1000)["runs"], complete, 60)
    # A late span of a run opens it again: nothing moves any more once two answers in a row are equal.
    last: list[dict[str, Any]] = []
    until(
        lambda: (last.append(told(collectors[0])), last)[1],
        lambda answers: len(answers) > 1 and answers[-1] == answers[-2],
        60,
    )
    return last[-1]


def test_three_collectors_say_what_one_says(tmp_path: Path) -> None:
    draw = random.Random(7)
    spans = [span for number in range(RUNS) for span in spans_of(number)]
    front = Front(tmp_path / "front")
    url = front.place().url
    one = Serving(tmp_path / "one")
    collectors = [Serving(tmp_path / f"of three {n}", {"store": {"url": url}}) for n in range(3)]
    try:
        at_once(Serving.start, [one, *collectors])
        for span in spans:
            assert one.post_traces(request(span)).status_code == 200
        draw.shuffle(spans)
        half = len(spans) // 2
        for span in spans[:half]:
            send(collectors, span, draw)
        collectors[2].kill()
        for span in spans[half:]:
            send(collectors, span, draw)
        for span in draw.sample(spans, len(spans) // 5):  # a client that never heard the answer
            send(collectors[:2], span, draw)
        collectors[2].start()
        expected = settled([one])
        assert settled(collectors) == expected
        assert [told(at) for at in collectors[1:]] == [expected] * 2
        assert at_once(Serving.stop, [one, *collectors]) == [0, 0, 0, 0]
    finally:
        for at in (one, *collectors):
            if at.process is not None and at.process.poll() is None:
                at.kill()
        front.stop()


def at_once(do: Callable[[Serving], Any], collectors: list[Serving]) -> list[Any]:
    """Processes that start or end side by side: most of it is waiting."""
    with ThreadPoolExecutor(len(collectors)) as pool:
        return list(pool.map(do, collectors))
