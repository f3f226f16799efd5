"""However spans are delivered (order, batches, repeats), what is read back is the same."""

from __future__ import annotations

import itertools

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collector.store.rows import Batch
from collector.store.store import Store
from tests.support.stores import BASE_NS, row, span, trace

TRACES = itertools.count(1000)

# Span number and version of it: a version received later says something else.
deliveries = st.lists(st.tuples(st.integers(1, 4), st.integers(0, 2)), min_size=1, max_size=12)
sizes = st.lists(st.integers(1, 5), min_size=1, max_size=12)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(deliveries, sizes, st.randoms(use_true_random=False))
def test_reading_does_not_depend_on_the_way_of_delivery(
    shared: Store, sent: list[tuple[int, int]], batches: list[int], chance: object
) -> None:
    unit = ("default", trace(next(TRACES)))
    rows = [
        row(span(unit[1], number, attributes={"version": version}), received_ns=BASE_NS + version * 1_000_000)
        for number, version in sent
    ]
    chance.shuffle(rows)  # type: ignore[attr-defined]
    for size in batches:
        shared.insert(Batch(rows[:size], []))
        rows = rows[size:] + rows[: size // 2]  # some again, later
    shared.insert(Batch(rows, []))
    found = shared.read_units([unit])[unit].facts
    newest = {number: max(v for n, v in sent if n == number) for number, _ in sent}
    assert {int(fact.span_id, 16): fact.attributes["version"] for fact in found} == newest
    several = {number for number, _ in sent if len({v for n, v in sent if n == number}) > 1}
    flagged = {int(fact.span_id, 16) for fact in found if "id_conflict" in fact.facts.flags}
    assert flagged <= several  # an older version that was merged away is not told any more
    counted = shared.query("SELECT count() FROM spans FINAL WHERE trace_id = {t:String}", {"t": unit[1]}).rows
    assert counted == [(len(newest),)]
