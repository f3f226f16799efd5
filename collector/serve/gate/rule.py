"""The rule of a gate: what the numbers of the store mean under a policy. Pure; tested branch by branch."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Decision = Literal["allow", "deny", "insufficient"]


class Limits(Struct, frozen=True):
    """What a policy demands. `max_age_s` is of the newest trial, `max_excluded` a share of the trials attempted."""

    min: float
    max_excluded: float
    max_age_s: float


class Evidence(Struct, frozen=True):
    """What the store says of the window; None where nothing can be said.

    `age_s` of the newest counted trial; `recent_high`: the 95 % upper end over the last three days, on the scale of
    `low` and `high`; `critical`: runs that fail a critical check; `other_basis`, `other_checks`: trials that do not
    count because of that.
    """

    n: int
    low: float | None
    high: float | None
    recent_high: float | None = None
    age_s: float | None = None
    attempted: int = 0
    critical: int = 0
    tasks: int = 1
    tasks_used: int = 1
    other_basis: int = 0
    other_checks: int = 0
    superseded: int = 0


MOST_UNUSED = 0.2  # more tasks than this without k trials: the mean is of a selection


def decide(limits: Limits, seen: Evidence) -> tuple[Decision, tuple[str, ...]]:
    """The decision and its reasons by name; an allowing one has none.

    What denies is never hidden by what is missing, and one missing thing is enough not to allow.
    """
    denied = _denying(limits, seen)
    if denied:
        return "deny", denied
    lacking = _lacking(limits, seen)
    return ("insufficient", lacking) if lacking else ("allow", ())


def excluded_share(seen: Evidence) -> float:
    """Attempted trials that count nowhere, as a share: 0 where none was attempted."""
    return (seen.attempted - seen.n) / seen.attempted if seen.attempted else 0.0


def _denying(limits: Limits, seen: Evidence) -> tuple[str, ...]:
    return _true(
        critical_failure=seen.critical > 0,
        below_target=seen.high is not None and seen.high < limits.min,
        last_three_days=seen.recent_high is not None and seen.recent_high < limits.min,
    )


def _lacking(limits: Limits, seen: Evidence) -> tuple[str, ...]:
    if seen.attempted == 0:
        why = _true(
            no_outcomes=seen.other_basis > 0,
            checks_changed=seen.other_checks > 0,
            superseded=seen.superseded > 0,
        )
        return why or ("no_trials",)
    return _true(
        too_few=seen.low is None or seen.low < limits.min,
        selected=seen.tasks_used < (1 - MOST_UNUSED) * seen.tasks,
        excluded=excluded_share(seen) > limits.max_excluded,
        stale=seen.age_s is None or seen.age_s > limits.max_age_s,
        checks_changed=seen.other_checks > 0 and (seen.low is None or seen.low < limits.min),
    )


def _true(**named: bool) -> tuple[str, ...]:
    return tuple(name for name, holds in named.items() if holds)
