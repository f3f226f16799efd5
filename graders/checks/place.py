"""Which of two events comes first, also inside one call: `pytest && git push` is a test run, then a push."""

from __future__ import annotations

from graders.call import Call
from graders.predicate import Predicate


def before(a: Call, by_a: Predicate, b: Call, by_b: Predicate) -> bool:
    """Whether `a` (picked by `by_a`) first happens before `b` first does."""
    if a is not b:
        return a.order < b.order
    places_a, places_b = by_a.places(a), by_b.places(b)
    return bool(places_a and places_b) and places_a[0] < places_b[0]


def side_by_side(a: Call, b: Call) -> bool:
    """Whether both ran and started in the same nanosecond: which line comes first is then the span ids' doing."""
    one, other = a.line, b.line
    same = a is not b and one.start_ns == other.start_ns > 0
    return same and one.end_ns > one.start_ns and other.end_ns > other.start_ns


def after_last(a: Call, by_a: Predicate, b: Call, by_b: Predicate) -> bool:
    """Whether `a` (picked by `by_a`) still happens after `b` (picked by `by_b`) last did."""
    if a is not b:
        return a.order > b.order
    places_a, places_b = by_a.places(a), by_b.places(b)
    return bool(places_a and places_b) and places_a[-1] > places_b[-1]
