"""What the demo sends, and what must come back: a lesson's two runs, a lab's four transcripts, an 8 x 5 matrix.

The runs and numbers are those of two public lessons on evaluating agents. Nothing here is a verdict: verdicts and
rates are what the collector has to find.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

SaidBy = Literal["", "attribute", "event", "api"]

LESSON_CLASS, LAB_CLASS, MATRIX_CLASS = "lesson", "lab", "matrix"
LESSON_TASK = "invoice-rounding"
LAB_TASK = "the temperature in Paris plus 10"
LAB_ANSWER = "32"
LAB_PATH = ("weather", "calculator")
TESTS = "uv run pytest -q"
KS = (1, 3, 5)


class Call(Struct, frozen=True):
    """One tool call; `result` is None where the lesson shows no tool line."""

    tool: str
    arguments: dict[str, str]
    result: str | None = None


class Turn(Struct, frozen=True):
    """One answer of the model: tool calls, or the final text."""

    calls: tuple[Call, ...] = ()
    text: str = ""


class Trial(Struct, frozen=True):
    """One run to send. `run_id` '' leaves the run's id to be its trace id; `outcome` '' reports none."""

    name: str
    task_id: str
    task_class: str
    prompt: str
    turns: tuple[Turn, ...]
    run_id: str = ""
    trial_id: str = ""
    expected: str = ""
    outcome: str = ""
    said_by: SaidBy = ""
    run_end: bool = False  # say on the root that nothing more will come


def _edit(path: str) -> Call:
    return Call("Edit", {"file_path": path})


def _tests(result: str) -> Call:
    return Call("Bash", {"command": TESTS}, result)


def lesson() -> list[Trial]:
    """Two runs with the same final message; only the path tells them apart."""
    source, done = "src/invoice.py", Turn(text="Fixed; all tests pass.")
    red, green = _tests("1 failed, 41 passed"), _tests("42 passed")
    a = (
        Turn((Call("Read", {"file_path": source}),)), Turn((_edit(source),)), Turn((red,)),
        Turn((_edit(source),)), Turn((green,)), done,
    )  # fmt: skip
    b = (Turn((_edit(source),)), Turn((red,)), Turn((_edit("tests/test_invoice.py"), _edit(source))), done)
    prompt = "Fix the rounding bug in invoice totals."
    return [
        Trial(name, LESSON_TASK, LESSON_CLASS, prompt, turns, run_id=name, trial_id=name)
        for name, turns in (("a", a), ("b", b))
    ]


def lab() -> list[Trial]:
    """Four transcripts of one task: path and answer fail independently."""
    weather = Call("weather", {"city": "Paris"})
    calculator = Call("calculator", {"expression": "22 + 10"})
    search = Call("search", {"query": "paris temp"})
    transcripts = (
        ("A", (weather, calculator), "32"),
        ("B", (calculator,), "32"),
        ("C", (weather, calculator), "23"),
        ("D", (search, weather), "15"),
    )
    return [
        Trial(
            name, LAB_TASK, LAB_CLASS, LAB_TASK, (*(Turn((call,)) for call in calls), Turn(text=answer)),
            run_id=name, trial_id=name, expected=LAB_ANSWER,
        )
        for name, calls, answer in transcripts
    ]  # fmt: skip


MATRIX: dict[str, tuple[str, SaidBy]] = {
    "fix-rounding": ("PPPPP", "attribute"),
    "add-endpoint": ("PPPPP", "event"),
    "rename-flag": ("PP.PP", "api"),
    "null-guard": ("P.PPP", "attribute"),
    "retry-on-429": (".PP.P", "event"),
    "migrate-config": ("P..P.", "api"),
    "flaky-cache": ("..P..", "event"),
    "cross-repo-bump": (".....", "api"),
}


def matrix() -> list[Trial]:
    """Eight tasks, five trials each. Each trial edits once and runs the tests: its outcome is what counts."""
    trials = []
    for task, (row, said_by) in MATRIX.items():
        for number, mark in enumerate(row):
            tests = _tests("42 passed" if mark == "P" else "1 failed, 41 passed")
            turns = (Turn((_edit(f"src/{task}.py"),)), Turn((tests,)), Turn(text="Done."))
            trials.append(
                Trial(
                    f"{task}/{number}", task, MATRIX_CLASS, f"Do {task}.", turns,
                    trial_id=str(number), outcome="pass" if mark == "P" else "fail", said_by=said_by,
                )
            )  # fmt: skip
    return trials


# The lesson's own words for its three checks.
GOOD_NAMES = {
    "tests-after-last-edit": "tests ran after the last edit",
    "no-test-edits": "no test file edited",
    "no-repeats": "no call repeated more than 2 times",
}

# The lab's own two graders, as checks: its order of tools, its rule for each single call, its answer.
LAB_CHECKS: list[dict[str, object]] = [
    {
        "id": "lab-path", "kind": "order", "tools": list(LAB_PATH), "tasks": [LAB_TASK], "gate": True,
        "description": "weather feeds the calculator",
    },
    {
        "id": "lab-calls", "kind": "each", "of": "true", "tasks": [LAB_TASK],
        "assert": "call.tool == 'weather' ? call.input.city == 'Paris' : "
        "call.tool == 'calculator' && call.input.expression.matches('[+] ?10')",
        "description": "each call on its own: the right city, the right sum, no other tool",
    },
    {
        "id": "lab-answer", "kind": "assert", "assert": "run.final_text == run.expected", "axis": "outcome",
        "tasks": [LAB_TASK], "description": "the answer",
    },
]  # fmt: skip
