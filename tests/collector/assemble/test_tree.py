"""Run order, and traces that are no tree: cycles, missing parents, absurd times, any size (I09, I10; B073-B076)."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Iterable

import pytest
from msgspec.structs import replace

from collector.assemble.tree import (
    DAY_NS,
    IMPLAUSIBLE_TIME,
    MISSING_PARENT,
    PARENT_CYCLE,
    SELF_PARENT,
    YEAR_2100_NS,
    Node,
    grow,
)
from semconv.facts import SpanFacts
from tests.collector.assemble.build import BASE, MS, run_of, span, span_id, tool

DEADLINE_S = 20.0


def numbers(nodes: Iterable[Node]) -> list[int]:
    return [int(node.span.span_id, 16) for node in nodes]


def test_order_is_start_then_end_then_id() -> None:
    spans = [
        span(1, None, 0, 100),
        span(5, 1, 10, 30),
        span(4, 1, 10, 20),
        span(3, 1, 10, 20),
        span(2, 1, 5, 90),
    ]
    for _ in range(10):
        random.shuffle(spans)
        assert numbers(grow(spans)) == [1, 2, 3, 4, 5]


def test_b103_starts_a_microsecond_apart_keep_their_order() -> None:
    spans = [span(1, None, 0, 100), span(9, 1, 10.001, 50), span(2, 1, 10.002, 11), span(3, 1, 10.0, 60)]
    assert numbers(grow(spans)) == [1, 3, 9, 2]


def test_a_child_never_comes_before_its_parent() -> None:
    """Clocks of two machines differ: a child that claims to start first starts with its parent."""
    spans = [span(1, None, 50, 100), span(2, 1, 20, 30), span(3, 2, 10, 25)]
    nodes = grow(spans)
    assert numbers(nodes) == [1, 2, 3]
    assert {node.start for node in nodes} == {BASE + 50 * MS}
    assert nodes[1].end == nodes[1].start


def test_a_parent_with_its_childs_times_comes_first() -> None:
    spans = [span(9, None, 0, 10), span(1, 9, 0, 10), span(5, 1, 0, 5)]
    assert numbers(grow(spans)) == [9, 1, 5]


@pytest.mark.parametrize(
    ("spans", "flags"),
    [
        ([span(1, None, 0, 9), span(2, 2, 1, 2)], {2: SELF_PARENT}),
        ([span(1, None, 0, 9), span(2, 3, 1, 2), span(3, 2, 2, 3)], {2: PARENT_CYCLE, 3: PARENT_CYCLE}),
        ([span(1, None, 0, 9), span(2, 99, 1, 2)], {2: MISSING_PARENT}),
        (
            [span(1, None, 0, 9), span(2, 4, 1, 2), span(3, 2, 2, 3), span(4, 3, 3, 4), span(5, 3, 4, 5)],
            {2: PARENT_CYCLE, 3: PARENT_CYCLE, 4: PARENT_CYCLE},
        ),
    ],
    ids=["self", "two", "missing", "three with a tail"],
)
def test_b073_stranded_spans_are_at_the_top_and_marked(spans: list[SpanFacts], flags: dict[int, str]) -> None:
    nodes = grow(spans)
    assert numbers(nodes) == [int(one.span_id, 16) for one in spans]
    assert {int(node.span.span_id, 16): node.flags[0] for node in nodes if node.flags} == flags
    assert all(node.parent is None and node.is_stranded for node in nodes if node.flags)


def test_a_parent_of_another_trace_is_missing() -> None:
    other = span(2, 1, 1, 2, trace_id="f" * 32)
    (_, stranded) = grow([span(1, None, 0, 9), other])
    assert stranded.flags == [MISSING_PARENT]


@pytest.mark.parametrize(
    "times",
    [
        {"start_ns": 0},
        {"start_ns": 2**64 - 1, "end_ns": 2**64 - 1},
        {"end_ns": 0},
        {"end_ns": BASE},
        {"start_ns": YEAR_2100_NS + 1, "end_ns": YEAR_2100_NS + 2},
        {"start_ns": BASE + 2 * DAY_NS, "end_ns": BASE + 2 * DAY_NS},
    ],
    ids=["no start", "uint64 max", "no end", "end before start", "after 2100", "days after it was received"],
)
def test_absurd_times_are_marked_and_stay_in_their_parent(times: dict[str, int]) -> None:
    odd = replace(span(2, 1, 10, 20, received_ns=BASE + 200 * MS), **times)
    root, node = grow([span(1, None, 0, 100, received_ns=BASE + 200 * MS), odd])
    assert IMPLAUSIBLE_TIME in node.flags
    assert root.start <= node.start <= node.end <= root.end


def test_an_absurd_root_counts_as_received() -> None:
    root = replace(span(1, None, 0, 1, received_ns=BASE + 500 * MS), start_ns=2**64 - 1, end_ns=2**64 - 1)
    run = run_of([root, tool(2, 1, 10, 20)])
    assert run.ended_ns == BASE + 500 * MS
    assert IMPLAUSIBLE_TIME in run.flags
    assert run.started_ns <= run.ended_ns


def chain(length: int) -> list[SpanFacts]:
    return [
        tool(n, n - 1 if n > 1 else None, n / 1000, 1000 - n / 1000, name=f"t{n % 7}") for n in range(1, length + 1)
    ]


def fan(width: int) -> list[SpanFacts]:
    return [span(1, None, 0, 1e6), *(tool(n, 1, n, n + 5, call_id=f"c{n}") for n in range(2, width + 1))]


def ring(size: int) -> list[SpanFacts]:
    return [tool(n, n % size + 1, n, n + 1) for n in range(1, size + 1)]


@pytest.mark.parametrize(
    ("spans", "count"),
    [(chain(50_000), 50_000), (fan(100_000), 99_999), (ring(50_000), 50_000)],
    ids=["50,000 deep", "100,000 wide", "a ring of 50,000"],
)
def test_b074_b076_any_shape_is_assembled_in_seconds(spans: list[SpanFacts], count: int) -> None:
    random.Random(7).shuffle(spans)
    began = time.process_time()
    run = run_of(spans)
    assert run.tool_calls == count
    assert time.process_time() - began < DEADLINE_S


def test_time_grows_with_size_and_not_faster() -> None:
    """Four times the spans take about four times the work, not sixteen times (the collector of garbage aside)."""

    def seconds(count: int) -> float:
        spans = fan(count)
        best = 1e9
        for _ in range(3):
            began = time.process_time()
            run_of(spans)
            best = min(best, time.process_time() - began)
        return best

    gc.disable()
    try:
        assert seconds(20_000) < 8 * seconds(5_000)
    finally:
        gc.enable()


def test_ids_of_spans_name_lines() -> None:
    run = run_of([span(1, None, 0, 9), tool(2, 1, 1, 2)])
    assert [line.span_id for line in run.lines if line.tool] == [span_id(2)]
