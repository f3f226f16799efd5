"""Which of several outcomes of a run counts, and the outcome that checks state."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graders.verdict import Verdict
from semconv.outcome import Outcome, OutcomeResult, OutcomeSource
from semconv.run import Run

_PRECEDENCE: tuple[OutcomeSource, ...] = ("judge", "check", "harness", "environment", "human")
# At one time and of one source the worse statement counts: the same on every machine.
_SEVERITY: tuple[OutcomeResult, ...] = ("pass", "fail", "error", "invalid")


def counting(outcomes: Iterable[Outcome]) -> Outcome | None:
    """The outcome in force: human beats environment beats harness beats check beats judge, then the latest."""
    return max(outcomes, key=_rank, default=None)


def _rank(outcome: Outcome) -> tuple[int, int, int, str, str]:
    return (
        _PRECEDENCE.index(outcome.source),
        outcome.time_ns,
        _SEVERITY.index(outcome.result),
        outcome.id,
        outcome.reason,
    )


def stated_by_checks(run: Run, verdicts: Sequence[Verdict], deciding: frozenset[str] | None = None) -> Outcome | None:
    """The outcome that the checks of axis `outcome` state together, None while one of them cannot tell.

    `deciding` names the checks that may; without it, all of that axis. A failed check states its `on_fail`.
    """
    own = [v for v in verdicts if v.axis == "outcome" and v.status != "not_applicable"]
    if deciding is not None:
        own = [verdict for verdict in own if verdict.check_id in deciding]
    failed = [verdict for verdict in own if verdict.status == "fail"]
    if failed:
        result = max((verdict.on_fail for verdict in failed), key=list(_SEVERITY).index)  # type: ignore[arg-type]
        reason = "; ".join(f"{verdict.check_id}: {verdict.reason}" for verdict in failed)
        return Outcome(run.run_id, result, "check", reason, time_ns=run.ended_ns, id=_id_of(failed))  # type: ignore[arg-type]
    if not own or any(verdict.status != "pass" for verdict in own):
        return None
    return Outcome(run.run_id, "pass", "check", time_ns=run.ended_ns, id=_id_of(own))


def _id_of(verdicts: Sequence[Verdict]) -> str:
    return "check:" + ",".join(sorted(verdict.check_id for verdict in verdicts))
