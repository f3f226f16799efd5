"""Every branch of the rule of a gate."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from collector.serve.gate.answer import SENTENCES
from collector.serve.gate.rule import Evidence, Limits, decide

LIMITS = Limits(min=0.8, max_excluded=0.05, max_age_s=600)
GOOD = Evidence(n=200, low=0.85, high=0.99, recent_high=0.97, age_s=60, attempted=205, tasks=10, tasks_used=9)

TABLE: list[tuple[str, dict[str, Any], str, tuple[str, ...]]] = [
    ("all is well", {}, "allow", ()),
    ("exactly at the minimum", {"low": 0.8}, "allow", ()),
    ("exactly the excluded share", {"attempted": 200, "n": 190}, "allow", ()),
    ("exactly the age", {"age_s": 600}, "allow", ()),
    ("exactly 80 % of the tasks", {"tasks_used": 8}, "allow", ()),
    ("no trial of the last three days", {"recent_high": None}, "allow", ()),
    ("low end below", {"low": 0.79}, "insufficient", ("too_few",)),
    ("no low end", {"low": None}, "insufficient", ("too_few",)),
    ("high end below", {"low": 0.5, "high": 0.79}, "deny", ("below_target",)),
    ("high end at the minimum", {"low": 0.5, "high": 0.8}, "insufficient", ("too_few",)),
    ("one critical failure", {"critical": 1}, "deny", ("critical_failure",)),
    ("a drop", {"recent_high": 0.79}, "deny", ("last_three_days",)),
    ("a recent end at the minimum", {"recent_high": 0.8}, "allow", ()),
    ("too many left out", {"attempted": 220}, "insufficient", ("excluded",)),
    ("too old", {"age_s": 601}, "insufficient", ("stale",)),
    ("no counted trial", {"n": 0, "low": None, "high": None, "age_s": None, "attempted": 9}, "insufficient",
     ("too_few", "excluded", "stale")),
    ("a selection", {"tasks_used": 7}, "insufficient", ("selected",)),
    ("other checks, and enough without", {"other_checks": 9}, "allow", ()),
    ("other checks, not enough without", {"other_checks": 9, "low": 0.5}, "insufficient",
     ("too_few", "checks_changed")),
    ("nothing at all", {"n": 0, "low": None, "high": None, "attempted": 0}, "insufficient", ("no_trials",)),
    ("no outcomes", {"n": 0, "low": None, "high": None, "attempted": 0, "other_basis": 3}, "insufficient",
     ("no_outcomes",)),
    ("only earlier checks", {"n": 0, "low": None, "high": None, "attempted": 0, "other_checks": 3}, "insufficient",
     ("checks_changed",)),
    ("only older versions", {"n": 0, "low": None, "high": None, "attempted": 0, "superseded": 3}, "insufficient",
     ("superseded",)),
    ("a denial hides what is missing", {"critical": 2, "high": 0.1, "recent_high": 0.1, "age_s": None}, "deny",
     ("critical_failure", "below_target", "last_three_days")),
    ("critical without a counted trial", {"n": 0, "low": None, "high": None, "attempted": 0, "critical": 1}, "deny",
     ("critical_failure",)),
]  # fmt: skip


@pytest.mark.parametrize(("what", "seen", "decision", "reasons"), TABLE, ids=[row[0] for row in TABLE])
def test_the_rule(what: str, seen: dict[str, Any], decision: str, reasons: tuple[str, ...]) -> None:
    assert decide(LIMITS, replace(GOOD, **seen)) == (decision, reasons)


def test_every_reason_has_a_sentence_and_a_row() -> None:
    assert {reason for *_, reasons in TABLE for reason in reasons} == set(SENTENCES)
