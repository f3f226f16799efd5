"""The lesson's two runs: the numbers its checks cite are the numbers of our lines (CONTRACT.md section 4)."""

from __future__ import annotations

import msgspec
import pytest

from semconv.facts import Message, SpanFacts
from semconv.run import Run
from semconv.trace_line import TraceLine
from tests.collector.assemble.build import agent, asks, brief, chat, gives, run_of, says, tool

TEST = {"command": "uv run pytest -q"}
ISSUE = "Fix the rounding bug in invoice totals."
DONE = "Fixed; all tests pass."

# Tool, arguments, and what it gave: an edit and a read of the lesson give nothing that was recorded.
Step = tuple[str, dict[str, str], str | None]
SOURCE = {"file_path": "src/invoice.py"}
STEPS_A: list[Step] = [
    ("Read", SOURCE, None),
    ("Edit", SOURCE, None),
    ("Bash", TEST, "1 failed, 41 passed"),
    ("Edit", SOURCE, None),
    ("Bash", TEST, "42 passed"),
]
STEPS_B: list[Step] = [
    ("Edit", SOURCE, None),
    ("Bash", TEST, "1 failed, 41 passed"),
    ("Edit", {"file_path": "tests/test_invoice.py"}, None),
    ("Edit", SOURCE, None),
]


def with_requests(steps: list[Step]) -> list[SpanFacts]:
    """As a harness reports it that shows every request to the model, history and all."""
    history: list[Message] = [says("user", ISSUE)]
    spans = [agent(1, None, 0, 1000, name="fixer", num_turns=len(steps) + 1)]
    for number, (name, arguments, output) in enumerate(steps):
        start, call_id = 10 + number * 20, f"call_{number}"
        request = asks(call_id, name, arguments)
        spans.append(chat(100 + number, 1, start, start + 5, messages_in=tuple(history), messages_out=(request,)))
        spans.append(tool(200 + number, 1, start + 6, start + 9, name, input=arguments, output=output, call_id=call_id))
        history.append(request)
        if output is not None:
            history.append(gives(call_id, output))
    spans.append(chat(300, 1, 900, 950, messages_in=tuple(history), messages_out=(says("assistant", DONE),)))
    return spans


def without_requests(steps: list[Step]) -> list[SpanFacts]:
    """As a harness reports it that shows its tools, and on the agent what went in and came out."""
    spans = [
        agent(
            1,
            None,
            0,
            1000,
            name="fixer",
            num_turns=len(steps) + 1,
            messages_in=(says("user", ISSUE),),
            messages_out=(says("assistant", DONE),),
            final_text=DONE,
        )
    ]
    for number, (name, arguments, output) in enumerate(steps):
        spans.append(tool(200 + number, 1, 10 + number * 20, 19 + number * 20, name, input=arguments, output=output))
    return spans


def as_lesson(run: Run) -> list[TraceLine]:
    """The lines with the lesson's keys alone."""
    keys = ("n", "role", "tool", "input", "output", "text", "subtype", "num_turns")
    return [TraceLine(**{key: getattr(line, key) for key in keys}) for line in run.lines]


@pytest.mark.parametrize("report", [with_requests, without_requests])
def test_run_a_has_its_ten_lines(report) -> None:
    run = run_of(report(STEPS_A))
    assert as_lesson(run) == [
        TraceLine(n=1, role="user", text=ISSUE),
        TraceLine(n=2, role="assistant", tool="Read", input=SOURCE),
        TraceLine(n=3, role="assistant", tool="Edit", input=SOURCE),
        TraceLine(n=4, role="assistant", tool="Bash", input=TEST),
        TraceLine(n=5, role="tool", tool="Bash", output="1 failed, 41 passed"),
        TraceLine(n=6, role="assistant", tool="Edit", input=SOURCE),
        TraceLine(n=7, role="assistant", tool="Bash", input=TEST),
        TraceLine(n=8, role="tool", tool="Bash", output="42 passed"),
        TraceLine(n=9, role="assistant", text=DONE),
        TraceLine(n=10, role="result", text=DONE, subtype="success", num_turns=6),
    ]
    assert [line.n for line in run.lines if line.tool == "Edit"] == [3, 6]
    assert [line.n for line in run.lines if line.tool == "Bash" and line.role == "assistant"] == [4, 7]


@pytest.mark.parametrize("report", [with_requests, without_requests])
def test_run_b_has_its_eight_lines(report) -> None:
    run = run_of(report(STEPS_B))
    assert brief(run.lines) == [
        f"user: {ISSUE}",
        "assistant Edit",
        "assistant Bash",
        "tool Bash",
        "assistant Edit",
        "assistant Edit",
        f"assistant: {DONE}",
        f"result: {DONE}",
    ]
    assert run.lines[-1].num_turns == 5


def test_lines_without_empty_keys_are_the_lessons_json() -> None:
    run = run_of(with_requests(STEPS_A))
    line = msgspec.to_builtins(run.lines[4])
    assert {key: line[key] for key in ("n", "role", "tool", "output")} == {
        "n": 5,
        "role": "tool",
        "tool": "Bash",
        "output": "1 failed, 41 passed",
    }
    assert "text" not in line
    assert "cost_usd" not in line
