"""When a unit is due, by the store's clock."""

from __future__ import annotations

import pytest

from collector.grade.due import (
    LARGE,
    MOST_UNITS,
    NEVER_NS,
    SECOND_NS,
    Due,
    DuePolicy,
    UnitState,
    closes_at,
    in_batches,
    looks_at,
)

POLICY = DuePolicy(settle_s=10, idle_s=300, max_age_s=1000)
AT = 1_000_000 * SECOND_NS


def state(**more: object) -> UnitState:
    return UnitState(AT, AT, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("unit", "after_s", "closed_by"),
    [
        (state(), 300, "idle"),
        (state(rooted=True), 10, "root"),
        (state(ended=True), 0, "end"),
        (state(rooted=True, ended=True), 0, "end"),
        (UnitState(AT - 990 * SECOND_NS, AT), 10, "max_age"),
        (UnitState(AT - 995 * SECOND_NS, AT, rooted=True), 5, "max_age"),
        (UnitState(AT - 2000 * SECOND_NS, AT), -1000, "max_age"),
    ],
)
def test_what_closes_a_unit_and_when(unit: UnitState, after_s: int, closed_by: str) -> None:
    assert closes_at(unit, POLICY) == (AT + after_s * SECOND_NS, closed_by)


def test_b064_an_arrival_puts_the_close_off_and_reopens_what_was_graded() -> None:
    unit = state(rooted=True, graded_ns=AT)
    assert unit.settled
    assert unit.arrive(AT + 1, AT + 5, rooted=False, ended=False)
    assert not unit.settled
    assert closes_at(unit, POLICY) == (AT + 5 + 10 * SECOND_NS, "root")


def test_the_same_arrival_seen_again_changes_nothing() -> None:
    unit = state(rooted=True, graded_ns=AT)
    assert not unit.arrive(AT, AT, rooted=True, ended=False)
    assert unit.settled


def test_arrivals_in_any_order_give_the_same_state() -> None:
    seen = [(AT, AT, False, False), (AT + 7, AT + 9, True, False), (AT + 2, AT + 3, False, True)]
    one, other = state(), state()
    for first, last, rooted, ended in seen:
        one.arrive(first, last, rooted=rooted, ended=ended)
    for first, last, rooted, ended in reversed(seen):
        other.arrive(first, last, rooted=rooted, ended=ended)
    assert one == other


def test_looks_back_off_and_wait_for_something_new() -> None:
    unit = state()
    waits = []
    for _ in range(9):
        unit.arrive(AT, unit.last_stored_ns + SECOND_NS, rooted=False, ended=False)
        since = unit.looked_ns if unit.looked_ns >= 0 else AT
        waits.append((looks_at(unit) - since) // SECOND_NS)
        unit.looked_ns, unit.looks = unit.last_stored_ns - 1, unit.looks + 1
    assert waits == [1, 2, 4, 8, 16, 32, 64, 120, 120]
    unit.looked_ns = unit.last_stored_ns
    assert looks_at(unit) == NEVER_NS


def test_a_unit_that_cannot_be_graded_is_tried_ever_more_rarely() -> None:
    unit = state(ended=True)
    waits = []
    for _ in range(14):
        unit.fail(AT)
        waits.append((closes_at(unit, POLICY)[0] - AT) // SECOND_NS)
    assert waits[:4] == [2, 4, 8, 16]
    assert waits[-1] == 3600


def test_small_units_are_graded_before_large_ones_and_many_at_once() -> None:
    sizes = {"huge": 20 * LARGE, "large": LARGE + 1, **{str(n): n % 7 + 1 for n in range(MOST_UNITS + 1)}}
    due: list[Due] = [(("p", unit), "root") for unit in sizes]
    batches = list(in_batches(due, {("p", unit): state(records=size) for unit, size in sizes.items()}))
    assert [len(one) for one in batches] == [MOST_UNITS, 1, 1, 1]
    assert [unit for (_, unit), _ in batches[0]] == [str(n) for n in range(MOST_UNITS)]
    assert [batch[0][0][1] for batch in batches[1:]] == [str(MOST_UNITS), "large", "huge"]
