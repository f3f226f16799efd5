"""When a unit (a trace, or traces joined) is ready to be graded: pure, by the store's clock."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from semconv.run import ClosedBy

SECOND_NS = 1_000_000_000
NEVER_NS = 1 << 62
FIRST_LOOK_S = 1.0
LONGEST_LOOK_S = 120.0
LONGEST_RETRY_S = 3600.0
MOST_UNITS = 200  # read and graded in one go
LARGE = 5_000  # records of a unit that is graded by itself
Due = tuple[tuple[str, str], ClosedBy]  # project and unit, and what closes it


class DuePolicy(Struct, frozen=True):
    """`runs.settle_s`, `runs.idle_s`, `runs.max_age_s` of the configuration, in seconds."""

    settle_s: float = 10.0
    idle_s: float = 300.0
    max_age_s: float = 86400.0


class UnitState(Struct):
    """What the loop knows of one unit. Times are ns of the store's clock.

    `graded_ns` is `last_stored_ns` as it was when the unit was last graded closed; a later arrival reopens it.
    """

    first_stored_ns: int
    last_stored_ns: int
    rooted: bool = False
    ended: bool = False
    touched_ns: int = 0  # an outcome or a regrade asks for a look although no span is new
    graded_ns: int = -1
    judged_ns: int = -1
    looks: int = 0
    looked_ns: int = -1
    failures: int = 0
    retry_ns: int = 0
    records: int = 0  # that arrived, about: repeats count again
    carried_ns: int = 0  # when it was asked for anew, because it waited for long

    def arrive(self, first_ns: int, last_ns: int, *, rooted: bool, ended: bool) -> bool:
        """Take in one arrival; true when it brought something new."""
        new = last_ns > self.last_stored_ns
        self.first_stored_ns = min(self.first_stored_ns, first_ns)
        self.last_stored_ns = max(self.last_stored_ns, last_ns)
        self.rooted = self.rooted or rooted
        self.ended = self.ended or ended
        return new

    def fail(self, now_ns: int) -> None:
        """Grading broke: try again later and later, so that one unit cannot keep the loop busy."""
        self.failures += 1
        self.retry_ns = now_ns + int(min(2.0**self.failures, LONGEST_RETRY_S) * SECOND_NS)

    @property
    def settled(self) -> bool:
        """Graded closed, and nothing new since."""
        return self.graded_ns >= self.last_stored_ns and self.touched_ns == 0


def in_batches(due: Iterable[Due], states: Mapping[tuple[str, str], UnitState]) -> Iterator[list[Due]]:
    """What is graded in one go: small units in their order; then each large one alone, the smallest first.

    Grading 100,000 spans takes minutes: nobody's small run shall wait for it.
    """
    parts: tuple[list[Due], list[Due]] = ([], [])
    for one in due:
        parts[states[one[0]].records > LARGE].append(one)
    small, large = parts
    for start in range(0, len(small), MOST_UNITS):
        yield small[start : start + MOST_UNITS]
    for one in sorted(large, key=lambda one: states[one[0]].records):
        yield [one]


def waits_since(state: UnitState) -> int:
    """Since when something of the unit waits to be graded: a collector that starts must look back as far."""
    since = state.touched_ns or NEVER_NS
    if state.graded_ns < state.last_stored_ns:
        since = min(since, state.first_stored_ns if state.graded_ns < 0 else state.graded_ns)
    return max(since, state.carried_ns)


def closes_at(state: UnitState, policy: DuePolicy) -> tuple[int, ClosedBy]:
    """The store's time at which the unit closes if nothing more arrives, and what closes it.

    An explicit end closes at once. A root that ended closes after `settle_s` of quiet: its children may still sit
    in another exporter's queue. Without a root the unit closes when idle. Nothing stays open beyond `max_age_s`.
    """
    at_ns, closed_by = _quiet_at(state, policy)
    oldest = state.first_stored_ns + int(policy.max_age_s * SECOND_NS)
    if at_ns > oldest:
        at_ns, closed_by = oldest, "max_age"
    return max(at_ns, state.retry_ns), closed_by


def _quiet_at(state: UnitState, policy: DuePolicy) -> tuple[int, ClosedBy]:
    if state.ended:
        return state.last_stored_ns, "end"
    if state.rooted:
        return state.last_stored_ns + int(policy.settle_s * SECOND_NS), "root"
    return state.last_stored_ns + int(policy.idle_s * SECOND_NS), "idle"


def looks_at(state: UnitState) -> int:
    """When an open unit is assembled next, so that checks which can only get worse fail early; backs off."""
    if state.looked_ns >= state.last_stored_ns:
        return NEVER_NS
    wait_s = min(FIRST_LOOK_S * 2**state.looks, LONGEST_LOOK_S)
    since = state.looked_ns if state.looked_ns >= 0 else state.first_stored_ns
    return max(since + int(wait_s * SECOND_NS), state.retry_ns)
