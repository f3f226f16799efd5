"""Which of several outcomes of a run counts, and the outcome that checks state."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graders.verdict import Verdict
from semconv.outcome import Outcome, OutcomeResult, OutcomeSource

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


def outcome_in_force(outcomes: Iterable[Outcome], verdicts: Sequence[Verdict]) -> Outcome | None:
    """The outcome that counts for a run: of those reported and the one that its checks state."""
    judges = [verdict for verdict in verdicts if verdict.kind == "judge"]
    checks = [verdict for verdict in verdicts if verdict.kind != "judge"]
    stated = (stated_by_checks(checks), stated_by_checks(judges, "judge"))
    return counting([*outcomes, *(outcome for outcome in stated if outcome is not None)])


def stated_by_checks(verdicts: Sequence[Verdict], source: OutcomeSource = "check") -> Outcome | None:
    """The outcome that the checks of axis `outcome` state together, None while one of them cannot tell.

    A failed check states its `on_fail`. A regression case states one only when it gates. What models say has the
    source `judge`, the least of all.
    """
    own = [verdict for verdict in verdicts if verdict.axis == "outcome" and _states(verdict)]
    failed = [verdict for verdict in own if verdict.status == "fail"]
    if failed:
        result = max((verdict.on_fail for verdict in failed), key=list(_SEVERITY).index)  # type: ignore[arg-type]
        reason = "; ".join(f"{verdict.check_id}: {verdict.reason}" for verdict in failed)
        return Outcome("", result, source, reason, id=_id_of(failed))  # type: ignore[arg-type]
    if not own or any(verdict.status != "pass" for verdict in own):
        return None
    return Outcome("", "pass", source, id=_id_of(own))


def _states(verdict: Verdict) -> bool:
    return verdict.status != "not_applicable" and (verdict.gate or not verdict.check_id.startswith("case:"))


def _id_of(verdicts: Sequence[Verdict]) -> str:
    return "check:" + ",".join(sorted(verdict.check_id for verdict in verdicts))
