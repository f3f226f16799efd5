"""The lesson's two runs and the lab's four transcripts, with the results that both print."""

from __future__ import annotations

from typing import Any

import pytest

from graders import CheckSet, judge
from graders.outcomes import stated_by_checks
from semconv.run import Run
from semconv.trace_line import TraceLine

TEST = "uv run pytest -q"
PROMPT = "Fix the rounding bug in invoice totals."


def call(n: int, tool: str, **arguments: str) -> TraceLine:
    return TraceLine(n=n, role="assistant", tool=tool, input=arguments)


RUN_A = (
    TraceLine(n=1, role="user", text=PROMPT),
    call(2, "Read", file_path="src/invoice.py"),
    call(3, "Edit", file_path="src/invoice.py"),
    call(4, "Bash", command=TEST),
    TraceLine(n=5, role="tool", tool="Bash", output="1 failed, 41 passed"),
    call(6, "Edit", file_path="src/invoice.py"),
    call(7, "Bash", command=TEST),
    TraceLine(n=8, role="tool", tool="Bash", output="42 passed"),
    TraceLine(n=9, role="assistant", text="Fixed; all tests pass."),
    TraceLine(n=10, role="result", subtype="success", num_turns=6),
)
RUN_B = (
    TraceLine(n=1, role="user", text=PROMPT),
    call(2, "Edit", file_path="src/invoice.py"),
    call(3, "Bash", command=TEST),
    TraceLine(n=4, role="tool", tool="Bash", output="1 failed, 41 passed"),
    call(5, "Edit", file_path="tests/test_invoice.py"),
    call(6, "Edit", file_path="src/invoice.py"),
    TraceLine(n=7, role="assistant", text="Fixed; all tests pass."),
    TraceLine(n=8, role="result", subtype="success", num_turns=4),
)


def closed(name: str, lines: tuple[TraceLine, ...], **fields: Any) -> Run:
    return Run("p", name, lines, closed_by="root", root_status="ok", **fields)


@pytest.mark.parametrize(
    ("lines", "edits", "tests", "statuses", "result"),
    [
        (RUN_A, [3, 6], [4, 7], ["pass", "pass", "pass"], "pass"),
        (RUN_B, [2, 5, 6], [3], ["fail", "fail", "pass"], "fail"),
    ],
)
def test_the_lesson(
    lines: tuple[TraceLine, ...], edits: list[int], tests: list[int], statuses: list[str], result: str
) -> None:
    checks = CheckSet.compile()
    run = closed("run", lines)
    verdicts = checks.grade(run)
    assert checks.evidence(run) == {"edits": edits, "test_runs": tests}
    kinds = checks.actions(run)
    assert [n for n, did in kinds.items() if "edit" in did] == edits
    assert [n for n, did in kinds.items() if "test_run" in did] == tests
    assert [verdict.status for verdict in verdicts if verdict.gate] == statuses
    assert judge(run, verdicts, None, "trajectory", checks.policy).result == result


def test_the_lessons_failures_name_their_lines() -> None:
    by_id = {verdict.check_id: verdict for verdict in CheckSet.compile().grade(closed("b", RUN_B))}
    assert by_id["tests-after-last-edit"].lines == (5, 6)
    assert by_id["no-test-edits"].lines == (5,)
    assert by_id["no-test-edits"].reason == "There is an edit of a test file at line 5."


LAB = CheckSet.compile(
    [
        {"id": "path", "kind": "order", "tools": ["weather", "calculator"], "gate": True},
        {
            "id": "calls",
            "kind": "each",
            "gate": True,
            "assert": "call.tool == 'weather' ? call.input.city.lowerAscii() == 'paris' :"
            " call.tool == 'calculator' && call.input.expression.matches('[+] ?10')",
        },
        {"id": "answer", "kind": "assert", "assert": "run.final_text == run.expected", "axis": "outcome"},
    ]
)
WEATHER = ("weather", {"city": "Paris"})
CALCULATOR = ("calculator", {"expression": "22 + 10"})
SEARCH = ("search", {"query": "paris temp"})


def transcript(name: str, calls: list[tuple[str, dict[str, str]]], answer: int) -> Run:
    lines = [TraceLine(n=1, role="user", text="the temperature in Paris plus 10")]
    for tool, arguments in calls:
        lines.append(TraceLine(n=len(lines) + 1, role="assistant", tool=tool, input=arguments))
    lines.append(TraceLine(n=len(lines) + 1, role="assistant", text=str(answer)))
    return closed(name, tuple(lines), task_id="the temperature in Paris plus 10", expected="32")


@pytest.mark.parametrize(
    ("name", "calls", "answer", "trajectory", "calls_status", "outcome"),
    [
        ("A", [WEATHER, CALCULATOR], 32, "pass", "pass", "pass"),
        ("B", [CALCULATOR], 32, "fail", "pass", "pass"),
        ("C", [WEATHER, CALCULATOR], 23, "pass", "pass", "fail"),
        ("D", [SEARCH, WEATHER], 15, "fail", "fail", "fail"),
    ],
)
def test_the_lab(
    name: str,
    calls: list[tuple[str, dict[str, str]]],
    answer: int,
    trajectory: str,
    calls_status: str,
    outcome: str,
) -> None:
    run = transcript(name, calls, answer)
    verdicts = LAB.grade(run)
    stated = stated_by_checks(verdicts)
    result = judge(run, verdicts, stated, "outcome", LAB.policy)
    assert (result.trajectory, result.calls, result.outcome) == (trajectory, calls_status, outcome)
    assert result.result == ("pass" if name == "A" else "fail")


def test_the_labs_bad_call_is_the_search() -> None:
    run = transcript("D", [SEARCH, WEATHER], 15)
    bad = next(verdict for verdict in LAB.grade(run) if verdict.check_id == "calls")
    assert bad.lines == (2,)
    assert run.lines[1].tool == "search"
