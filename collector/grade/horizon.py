"""How far grading has come, written down in the store: a collector that starts looks back to there, not by age.

The mark stands at the oldest thing that still waits. What only waits because it cannot be graded (an evaluation whose
model call never came, a unit at fault) is asked for anew once it is older than any run may be open, and so no start has
to look back further than that.
"""

from __future__ import annotations

from collections.abc import Mapping

from collector.grade.due import SECOND_NS, UnitState, waits_since
from collector.store.store import Store

UnitKey = tuple[str, str]  # project, unit
MARK_NS = 60 * SECOND_NS  # between two marks
LATE_NS = 60 * SECOND_NS  # what is stored may be seen so much later than its time says


class Horizon:
    """Reads the mark at start, and moves it on. Methods raise StoreError."""

    def __init__(self, store: Store, max_age_s: float) -> None:
        self._store = store
        self._max_age_ns = int(max_age_s * SECOND_NS)
        self._start_ns = -1
        self._marked_ns = 0  # when

    def start_ns(self, now_ns: int) -> int:
        """From when on a collector that starts reads what was stored: at least as long ago as a run may be open."""
        if self._start_ns < 0:
            mark_ns, oldest_ns = self._store.graded_to()
            self._start_ns = max(0, min(mark_ns or oldest_ns, now_ns - self._max_age_ns))
        return self._start_ns

    def is_due(self, now_ns: int) -> bool:
        return now_ns - self._marked_ns >= MARK_NS

    def advance(self, waiting: Mapping[UnitKey, UnitState], now_ns: int) -> None:
        """Move the mark. All that was stored before `now_ns` is among `waiting`, or graded."""
        self._carry(waiting, now_ns)
        oldest_ns = min((waits_since(state) for state in waiting.values()), default=now_ns)
        self._store.mark_graded(max(0, min(oldest_ns, now_ns) - LATE_NS))
        self._marked_ns = now_ns

    def _carry(self, waiting: Mapping[UnitKey, UnitState], now_ns: int) -> None:
        """Ask anew for what has waited longer than any run stays open."""
        before_ns = now_ns - self._max_age_ns - MARK_NS
        stuck = [key for key, state in waiting.items() if waits_since(state) < before_ns]
        self._store.touch(stuck)
        for key in stuck:
            waiting[key].carried_ns = now_ns
