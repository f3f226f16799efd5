"""What commands print where there is little to print."""

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from collector.cli.arrivals import notes
from collector.cli.delete import delete
from collector.cli.gate_forms import known
from collector.cli.mine import CHECKING
from collector.cli.options import Source
from collector.cli.outcome import first_of_task
from collector.cli.report_beside import tables
from collector.cli.status import counts
from collector.errors import NotFound
from graders.cases import checks_of_case


def test_a_gate_without_versions_says_so() -> None:
    assert [known(value) for value in (None, "", [], "1.4", ["1", ""])] == ["-", "-", "-", "1.4", "1, -"]


def test_a_case_checks_something_by_these_keys_only() -> None:
    empty: dict[str, Any] = {"id": "c", "task": "t", "input": "i"}
    assert list(checks_of_case(empty)) == []
    filled = {"require_path": ["Read"], "forbid_tool": ["Bash"], "expect_answer": "42"}
    assert set(filled) == set(CHECKING)
    for key, value in filled.items():
        assert len(list(checks_of_case({**empty, key: value}))) == 1


def test_a_judge_that_is_away_is_told_by_status_and_doctor() -> None:
    told: dict[str, Any] = {"outward": {"judge": {"waiting": 1, "held": "it answered 401", "error": ""}}}
    assert counts(told).startswith("judge: 1 waits: it answered 401: look at judge.url and judge.api_key")
    assert [(what, found) for what, found, _ in notes(told)] == [("judge", "1 waits: it answered 401")]
    told["outward"]["judge"]["held"] = ""
    assert not counts(told)
    assert not list(notes(told))


def test_nothing_to_compare_is_said() -> None:
    nothing = "no task has 3 trials on both sides (--k 1 compares with fewer)"
    assert list(tables({"comparisons": []}, 3)) == [f"against the window before: {nothing}"]
    assert list(tables({"comparisons": []}, 3, ["model=old"])) == [f"against model=old: {nothing}"]
    assert not list(tables({}, 3))


def test_counts_of_a_status_say_what_they_count() -> None:
    told = {"accepted": {"traces": 3, "logs": 0}, "graded": {"pass": 2}}
    assert counts(told) == "accepted: 3 spans, 0 log records\ngradings since start: 2 pass"


def test_a_run_that_is_not_to_go_stays(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("typer.confirm", lambda *_, **__: False)
    assert delete(Source(), "r") == 130
    assert capsys.readouterr().err == "not removed\n"


def test_the_first_outcome_of_a_task_is_told_from_later_ones() -> None:
    class Answers:
        """What the API tells of runs."""

        def get(self, path: str, _: dict[str, Any]) -> dict[str, Any]:
            known = {"/api/v1/runs/a": "trajectory", "/api/v1/runs/b": "outcome", "/api/v1/runs/d": "trajectory"}
            if path not in known:
                raise NotFound("no such run")
            said = [{"result": "pass"}] if path.endswith("d") else []
            return {"run": {"task_id": "deploy", "basis": known[path]}, "outcomes": said}

    told: Any = Answers()
    assert [first_of_task(told, run, "") for run in ("a", "b", "c", "d")] == ["deploy", "", "", ""]
