"""Nothing is lost in the store: rows → span → rows gives the same rows, through the tables themselves."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from msgspec.structs import asdict, replace

from collector.normalise.unpack import logs_of, spans_of
from collector.store.rows import Batch, log_row, span_row
from collector.store.spans_of_rows import record_of, span_of
from collector.store.store import Store
from semconv.facts import Facts
from semconv.resolve import facts_of, facts_of_log
from semconv.span import Event, Link, LogRecord, Resource, Scope, Span
from semconv.words import Words
from tests.semconv.recorded import CAPTURES, TESTS

WORDS = Words()
numbers = count()
text = st.text(st.characters(codec="utf-8"), max_size=20)
uint64 = st.integers(0, (1 << 64) - 1)
uint32 = st.integers(0, (1 << 32) - 1)
scalars: st.SearchStrategy[Any] = st.one_of(
    text,
    st.booleans(),
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.floats(allow_nan=False),
    st.binary(max_size=9),
    st.none(),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(text, inner, max_size=3)),
    max_leaves=6,
)
attributes = st.dictionaries(text, values, max_size=6)
resources = st.builds(Resource, attributes, text, uint32)
scopes = st.builds(Scope, text, text, text, attributes, uint32)
ids = st.integers(1, (1 << 64) - 1).map("{:016x}".format)
traces = st.integers(1, (1 << 128) - 1).map("{:032x}".format)
events = st.lists(st.builds(Event, text, uint64, attributes, uint32), max_size=2).map(tuple)
links = st.lists(st.builds(Link, traces, ids, text, attributes, uint32, uint32), max_size=2).map(tuple)
spans = st.builds(
    Span, traces, ids, st.one_of(st.just(""), ids), text, st.integers(0, 5), uint64, uint64, st.integers(0, 2), text,
    attributes, events, links, resources, scopes, text, uint32, uint32, uint32, uint32,
)  # fmt: skip
records = st.builds(
    LogRecord, uint64, uint64, traces, st.one_of(st.just(""), ids), text, st.integers(0, 24), text, values, attributes,
    resources, scopes, uint32, uint32,
)  # fmt: skip


@given(st.lists(spans, max_size=5))
def test_any_span_comes_back_from_its_row(some: list[Span]) -> None:
    for one in some:
        assert span_of(asdict(span_row("p", 1, one, Facts()))) == one


@given(st.lists(records, max_size=5))
def test_any_log_record_comes_back_from_its_row(some: list[LogRecord]) -> None:
    for one in some:
        assert record_of(asdict(log_row("p", 1, one, Facts()))) == one


@settings(
    max_examples=10,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    phases=[Phase.explicit, Phase.generate],  # each example is a round through the engine: shrinking takes minutes
)
@given(st.lists(spans, min_size=1, max_size=20, unique_by=lambda one: one.trace_id))
def test_any_span_comes_back_from_its_table(store: Store, some: list[Span]) -> None:
    project = f"p{next(numbers)}"  # the table is not emptied between examples
    assert store.insert(Batch([span_row(project, 1, one, Facts()) for one in some], [])) == []
    rows = store.replays.rows_of("spans", [(project, one.trace_id) for one in some])
    found = {row["trace_id"]: span_of(row) for row in rows}
    assert all(found[one.trace_id] == one for one in some)


@pytest.mark.parametrize("name", CAPTURES)
def test_a_recording_gives_the_same_rows_after_the_store(store: Store, name: str) -> None:
    sent = [
        span_row("p", 1, one, facts_of(one, WORDS))
        for file in sorted((TESTS / "captures" / name).glob("*traces.pb"))
        for one in spans_of(file.read_bytes())
    ]
    said = [
        log_row("p", 1, one, facts_of_log(one, WORDS))
        for file in sorted((TESTS / "captures" / name).glob("*logs.pb"))
        for one in logs_of(file.read_bytes())
    ]
    sent, said = [replace(row, version=0) for row in sent], [replace(row, version=0) for row in said]
    assert store.insert(Batch(sent, said)) == []
    for row in store.replays.rows_of("spans", sorted({("p", one.trace_id) for one in sent})):
        again = span_row("p", 1, span_of(row), facts_of(span_of(row), WORDS))
        assert replace(again, version=0) in sent
    for row in store.replays.rows_of("logs", sorted({("p", one.unit) for one in said})):
        record = record_of(row)
        assert replace(log_row("p", 1, record, facts_of_log(record, WORDS)), version=0) in said
