"""The user's own checks run outside, each under its limit."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from collector.config import load
from collector.errors import UsageError
from collector.grade.programs import Programs
from collector.rules import checks_of
from graders.checks.external import CheckFailed, External, request_of
from graders.checkset import CheckSet
from semconv.run import Run
from semconv.trace_line import TraceLine

RUN = Run("default", "r", (TraceLine(1, "assistant", tool="Edit", input={"path": "a"}),), closed_by="root")
MODULE = """
import os, sys, time
from graders import check, Run, Verdict

@check(id="own", gate=True, severity="critical", description="of the decorator")
def good(run: Run):
    print("noise on stdout")
    return "fail", f"{len(run.lines)} line of {run.run_id}", [1]

def plain(run): return True
def slow(run): time.sleep(60)
def broken(run): raise ValueError("no such thing")
def leaves(run): sys.exit(3)
def dies(run): os._exit(7)
def nonsense(run): return 42
def big(run): return "pass", run.run_id
"""


@pytest.fixture
def programs(tmp_path: Path) -> Iterator[Programs]:
    (tmp_path / "own_checks.py").write_text(MODULE)
    started = Programs(tmp_path)
    yield started
    started.close()


def ask(programs: Programs, name: str, run: Run = RUN, timeout_s: float = 20.0) -> str:
    external = External("id", f"own_checks:{name}", (), timeout_s)
    return programs(external, request_of("id", run)).decode()


def test_a_function_judges_a_run_in_the_worker(programs: Programs) -> None:
    assert ask(programs, "good") == '{"status":"fail","reason":"1 line of r","lines":[1]}'
    assert '"pass"' in ask(programs, "plain")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("slow", "longer than 0.5 s"),
        ("broken", "ValueError: no such thing"),
        ("leaves", "SystemExit: 3"),
        ("dies", "exit code 7"),
        ("nonsense", "answered int"),
        ("missing", "has no 'missing'"),
    ],
)
def test_a_check_that_breaks_costs_itself_and_no_other(programs: Programs, name: str, said: str) -> None:
    ask(programs, "plain")
    with pytest.raises(CheckFailed, match=said):
        ask(programs, name, timeout_s=0.5 if name == "slow" else 20.0)
    assert '"pass"' in ask(programs, "plain")


def test_a_run_larger_than_a_pipe_goes_through(programs: Programs) -> None:
    text = "x" * 3_000_000
    run = Run("default", "large", (TraceLine(1, "user", text=text),))
    assert '"large"' in ask(programs, "big", run)


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (
            "import sys, json; r = json.load(sys.stdin); print(json.dumps({'status': 'pass', 'reason': r['check']}))",
            "id",
        ),
        ("import sys; sys.exit('went wrong')", "exit code 1: went wrong"),
        ("print('not json')", "answered no JSON"),
        ("import time; time.sleep(60)", "longer than"),
    ],
)
def test_a_program_speaks_json(programs: Programs, program: str, said: str) -> None:
    limit = 0.5 if "sleep" in program else 20.0
    external = External("id", "", (sys.executable, "-c", program), limit)
    if said == "id":
        assert '"reason": "id"' in programs(external, request_of("id", RUN)).decode()
        return
    with pytest.raises(CheckFailed, match=said):
        programs(external, request_of("id", RUN))


def test_a_program_that_is_not_there_is_named(programs: Programs) -> None:
    with pytest.raises(CheckFailed, match=r"no-such-program: No such file"):
        programs(External("id", "", ("no-such-program",)), request_of("id", RUN))


def configured(tmp_path: Path, text: str) -> CheckSet:
    (tmp_path / "own_checks.py").write_text(MODULE)
    (tmp_path / "passhat.yaml").write_text(text)
    return checks_of(load(tmp_path / "passhat.yaml", env={}))


def test_the_decorators_keys_stand_below_the_configured_ones(tmp_path: Path, programs: Programs) -> None:
    checks = configured(tmp_path, "checks: [{kind: python, function: 'own_checks:good', severity: minor}]")
    (verdict,) = checks.grade(RUN, runner=programs)
    assert (verdict.check_id, verdict.gate, verdict.severity, verdict.status) == ("own", True, "minor", "fail")


def test_another_text_of_the_module_is_another_version(tmp_path: Path) -> None:
    text = "checks: [{kind: python, function: 'own_checks:good'}]"
    first = configured(tmp_path, text).digest
    assert configured(tmp_path, text).digest == first
    (tmp_path / "own_checks.py").write_text(MODULE + "\n# changed\n")
    assert checks_of(load(tmp_path / "passhat.yaml", env={})).digest != first


def test_a_function_that_is_not_there_is_an_error_at_start_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"passhat.yaml:2: .*has no 'missing'"):
        configured(tmp_path, "checks:\n  - {id: x, kind: python, function: 'own_checks:missing'}")
