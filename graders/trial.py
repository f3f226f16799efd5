"""The result of a trial from its run, its verdicts and its outcome: the rule of CONTRACT.md section 6, in its order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Literal

from msgspec import Struct

from graders.verdict import Axis, Verdict, VerdictStatus
from semconv.outcome import Outcome
from semconv.run import Run

Basis = Literal["outcome", "trajectory"]
Result = Literal["pass", "fail", "error", "invalid", "unknown", "incomplete", "pending"]

AWAITING_OUTCOME = "awaiting_outcome"
NOTHING_JUDGED = "nothing_judged"
EVIDENCE = "evidence"

INFRASTRUCTURE = ("rate_limit", "overloaded", "timeout", "connection", "429", "5xx")
_WORST: tuple[VerdictStatus, ...] = ("fail", "error", "unknown", "pending", "pass", "not_applicable")
# Where several gating checks fail with different consequences: a broken task explains everything else.
_CONSEQUENCES: tuple[Result, ...] = ("invalid", "error", "fail")


class TrialPolicy(Struct, frozen=True):
    """The `trials` section that decides results. How errors are counted is chosen when counting, not here."""

    without_outcome: Literal["trajectory", "unknown"] = "trajectory"
    mature_s: float = 0.0
    outcome_events: tuple[str, ...] = ("outcome", "task_success")
    infrastructure_errors: tuple[str, ...] = INFRASTRUCTURE

    @property
    def meaning(self) -> dict[str, Any]:
        """The part of a checks version that the policy makes."""
        return {name: getattr(self, name) for name in self.__struct_fields__}


class TrialResult(Struct, frozen=True):
    """A trial's result and its three parts. `trajectory`, `calls` and `outcome` are '' where nothing is known."""

    result: Result
    reason: str = ""
    trajectory: VerdictStatus | Literal[""] = ""
    calls: VerdictStatus | Literal[""] = ""
    outcome: str = ""
    outcome_source: str = ""
    basis: Basis = "trajectory"


def judge(
    run: Run,
    verdicts: Sequence[Verdict],
    outcome: Outcome | None,
    basis: Basis,
    policy: TrialPolicy,
    age_s: float = float("inf"),
) -> TrialResult:
    """The result of one trial. `age_s` is how long ago it ended, for `mature_s`."""
    result, reason = _result(run, verdicts, outcome, _Rules(basis, policy, age_s))
    return TrialResult(
        result=result,
        reason=reason,
        trajectory=worst(verdicts, "trajectory"),
        calls=worst(verdicts, "calls"),
        outcome=outcome.result if outcome is not None else "",
        outcome_source=outcome.source if outcome is not None else "",
        basis=basis,
    )


def worst(verdicts: Iterable[Verdict], axis: Axis) -> VerdictStatus | Literal[""]:
    """The worst status of an axis among gating and named checks, '' where there is none."""
    found = {verdict.status for verdict in verdicts if verdict.axis == axis and (verdict.gate or verdict.named)}
    return next((status for status in _WORST if status in found), "")


class _Rules(Struct, frozen=True):
    basis: Basis
    policy: TrialPolicy
    age_s: float


def _result(run: Run, verdicts: Sequence[Verdict], outcome: Outcome | None, rules: _Rules) -> tuple[Result, str]:
    gating = [verdict for verdict in verdicts if verdict.gate]
    failed = [verdict for verdict in gating if verdict.status == "fail"]
    if run.is_open:
        return "pending", _ids(failed)
    if outcome is not None and outcome.result in ("error", "invalid", "fail"):
        return outcome.result, outcome.reason
    if outcome is None:
        without = _without_outcome(run, rules)
        if without is not None:
            return without
    if failed:
        consequence = next(one for one in _CONSEQUENCES if any(verdict.on_fail == one for verdict in failed))
        return consequence, _ids(verdict for verdict in failed if verdict.on_fail == consequence)
    if any(verdict.status in ("error", "unknown", "pending") for verdict in gating):
        return "unknown", EVIDENCE
    if outcome is not None:
        return "pass", outcome.reason
    if any(verdict.status == "pass" for verdict in gating):
        return "pass", ""
    return "unknown", NOTHING_JUDGED


def _without_outcome(run: Run, rules: _Rules) -> tuple[Result, str] | None:
    """Rules 4 to 6: what a missing outcome means by itself, None when the checks decide."""
    if run.closed_by not in ("root", "end") and not run.root_status:
        return "incomplete", "neither a root span nor an end event arrived"
    if run.root_status == "error":
        said = run.root_error_type or run.root_error or "the root span ended in error"
        return ("error" if is_infrastructure(run.root_error_type, rules.policy.infrastructure_errors) else "fail"), said
    if rules.basis == "outcome" or rules.policy.without_outcome == "unknown" or rules.age_s < rules.policy.mature_s:
        return "unknown", AWAITING_OUTCOME
    return None


def _ids(verdicts: Iterable[Verdict]) -> str:
    return ", ".join(verdict.check_id for verdict in verdicts)


def is_infrastructure(error_type: str, listed: tuple[str, ...]) -> bool:
    """Whether an `error.type` is one of the listed: `RateLimitError` is `rate_limit`, `503` is `5xx`."""
    return bool(error_type) and any(_pattern(name).search(_flat(error_type)) for name in listed)


@lru_cache(maxsize=256)  # of configured names
def _pattern(name: str) -> re.Pattern[str]:
    flat = _flat(name)
    if re.fullmatch(r"\d[\dx]{2}", flat):
        return re.compile(r"(?<!\d)" + flat.replace("x", r"\d") + r"(?!\d)")
    return re.compile(re.escape(flat))


def _flat(text: str) -> str:
    """Lower case without separators: how names of errors are compared."""
    return re.sub(r"[\s_.\-]", "", text.lower())
