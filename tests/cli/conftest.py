"""A data directory with known runs, made once; commands open it with --data."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from collector.config.keys import StoreConfig
from collector.store.store import Store
from semconv.outcome import Outcome
from tests.collector.serve.made import NOON_NS, grading, line, verdict

HOSTILE = [
    "\x1b]0;owned\x07\x1b[2J\x1b[31mred",
    "two\nlines\r\n",
    "t'); DROP TABLE runs; --",
    "[bold red]markup[/] :boom:",
    "=HYPERLINK(1)",
    "\u202egnihton\u2066",
    "\x9b31m\x7f\x85",
    "x" * 3000,
]
MATRIX = {"fix-rounding": "PPPPP", "retry-on-429": ".PP.P", "flaky-cache": "..PE?", "cross-repo-bump": "....."}
RESULTS = {"P": "pass", ".": "fail", "E": "error", "?": "unknown"}


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Commands in this process: an empty directory, no PASSHAT_*, UTC, 100 columns."""
    for name in [name for name in os.environ if name.startswith("PASSHAT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("COLUMNS", "100")
    time.tzset()
    monkeypatch.chdir(tmp_path)
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli") / "data"
    store = Store.open(StoreConfig(url=f"chdb:{folder}"), folder)
    made = [
        grading(f"{task}-{n}", RESULTS[mark], at_s=n - 600, task_id=task, task_class="matrix",
                reason="awaiting_outcome" if mark == "?" else "")
        for task, row in MATRIX.items()
        for n, mark in enumerate(row)
    ]  # fmt: skip
    made += [
        grading(name, "fail", at_s=-1200, reason=name, task_id=name, project="hostile", agent=name,
                lines=(line(1, "user", text=name),
                       line(2, "assistant", tool=name, input={name: name}, error=name, status="error")),
                verdicts=(verdict("c", "fail", reason=name, lines=(2,)),))
        for name in HOSTILE
    ]  # fmt: skip
    made += [grading(f"path-{n}", "pass", basis="trajectory", at_s=n - 300, task_id="path") for n in range(3)]
    made += [
        grading(
            f"live-{n}",
            "pass" if n else "fail",
            basis="trajectory",
            at_s=n - 300,
            task_id="svc/agent",
            task_source="fallback",
        )
        for n in range(4)
    ]
    made.append(told_run())
    store.write_gradings(made)
    store.add_outcomes([("default", Outcome("told", "fail", "environment", reason="row missing", time_ns=NOON_NS))])
    store.close()
    return folder


def told_run() -> object:
    """A run with one of everything, for the ledger."""
    lines = (
        line(1, "user", text="Fix the rounding bug."),
        line(2, "assistant", tool="Edit", input={"file_path": "src/invoice.py"}),
        line(3, "assistant", tool="Bash", input={"command": "pytest -q"}, status="error", error="exit 1"),
        line(4, "tool", tool="Bash", output="1 failed,\n41 passed"),
        line(5, "assistant", tool="Read", input={"path": "a"}, depth=1),
        line(6, "assistant", text="Fixed."),
        line(7, "result", subtype="success", num_turns=4),
    )
    verdicts = (
        verdict("no-repeats", "pass", gate=True, reason="No call is repeated."),
        verdict("tests-after-last-edit", "fail", gate=True, lines=(2,), reason="No test run after line 2."),
        verdict("calls", "not_applicable", kind="each", axis="calls", reason="Nothing to judge."),
        verdict("broken", "error", reason="The check broke."),
    )
    return grading("told", "fail", reason="row missing", lines=lines, verdicts=verdicts, task_id="invoice", at_s=-60,
                   task_version="2", tool_calls=3, turns=4, expected="42", outcome="fail")  # fmt: skip
