"""Trials too young to be judged without an outcome (`trials.mature_s`), and when each is looked at again."""

from __future__ import annotations

from collections.abc import Iterable

from collector.grade.due import SECOND_NS
from collector.store.records import Grading
from collector.store.store import Store
from graders.trial import AWAITING_OUTCOME, TrialPolicy

UnitKey = tuple[str, str]  # project, unit
ROUNDING_NS = 1_000_000  # ages are compared as floats


class Ripening:
    """When each unit with a trial that waits only for its age is judged again. The store knows it all too."""

    def __init__(self, policy: TrialPolicy) -> None:
        self._mature_ns = int(policy.mature_s * SECOND_NS)
        self._waits = self._mature_ns > 0 and policy.without_outcome == "trajectory"
        self._ripe_ns: dict[UnitKey, int] = {}
        self._is_read = not self._waits

    def take(self, store: Store, now_ns: int) -> list[UnitKey]:
        """The units that are old enough now; what an earlier process left is read first. Raises StoreError."""
        if not self._is_read:
            for project, unit, ended_ns in store.awaiting_outcomes():
                self._add((project, unit), ended_ns)
            self._is_read = True
        ripe = [key for key, at_ns in self._ripe_ns.items() if at_ns <= now_ns]
        for key in ripe:
            del self._ripe_ns[key]
        return ripe

    def add(self, gradings: Iterable[Grading]) -> None:
        """Take in what was graded: trials that awaited an outcome then, and need not for ever."""
        for grading in gradings if self._waits else ():
            if grading.alive and is_young(grading):
                self._add((grading.run.project, grading.units[0]), grading.run.ended_ns)

    def _add(self, key: UnitKey, ended_ns: int) -> None:
        at_ns = ended_ns + self._mature_ns + ROUNDING_NS
        self._ripe_ns[key] = min(at_ns, self._ripe_ns.get(key, at_ns))


def is_young(grading: Grading) -> bool:
    """Whether it awaits an outcome though its task has none."""
    return grading.basis == "trajectory" and grading.trial.reason == AWAITING_OUTCOME
