"""Runs as gradings, made by hand and kept in a real store."""

from __future__ import annotations

from typing import Any

from collector.store.records import Grading
from graders.trial import TrialResult
from graders.verdict import Verdict
from semconv.run import Run
from semconv.trace_line import TraceLine

NOON_NS = 1_793_000_000_000_000_000
SECOND_NS = 1_000_000_000


def grading(run_id: str, result: str = "pass", *, at_s: float = 0, reason: str = "", **told: Any) -> Grading:
    """One closed run that ended `at_s` after NOON. `told` goes to the run; basis, lines, verdicts, outcome beside."""
    basis, outcome = told.pop("basis", "outcome"), told.pop("outcome", "")
    verdicts, checks = told.pop("verdicts", ()), told.pop("checks_version", "c1")
    ended = NOON_NS + int(at_s * SECOND_NS)
    facts = {"project": "default", "task_id": "t", "task_source": "attribute", "closed_by": "root", "root_status": "ok"}
    run = Run(
        run_id=run_id, lines=told.pop("lines", ()), started_ns=ended - SECOND_NS, ended_ns=ended, **(facts | told)
    )
    trial = TrialResult(result=result, reason=reason, trajectory="pass", calls="", outcome=outcome, basis=basis)
    return Grading(
        run=run, verdicts=verdicts, trial=trial, basis=basis, checks_version=checks, epoch=1, inputs=1,
        input_digest=run_id,
    )  # fmt: skip


def line(n: int, role: str, **told: Any) -> TraceLine:
    return TraceLine(n=n, role=role, start_ns=NOON_NS, end_ns=NOON_NS, **told)  # type: ignore[arg-type]


def verdict(check_id: str, status: str, **told: Any) -> Verdict:
    kind = told.pop("kind", "absence")
    return Verdict(check_id=check_id, kind=kind, status=status, reason=told.pop("reason", "why"), **told)  # type: ignore[arg-type]
