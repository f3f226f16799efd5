"""Spans of a unit as a tree, walked in run order: effective start, end, span id, never a child before its parent.

Iterative throughout: a trace may be 50,000 deep, 100,000 wide, or contain a cycle.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping

from semconv.facts import Facts, SpanFacts

SELF_PARENT = "self_parent"
PARENT_CYCLE = "parent_cycle"
MISSING_PARENT = "missing_parent"
IMPLAUSIBLE_TIME = "implausible_time"

YEAR_2000_NS = 946_684_800 * 10**9
YEAR_2100_NS = 4_102_444_800 * 10**9
DAY_NS = 86_400 * 10**9


class Node:
    """A span in its tree. `start` and `end` are effective: plausible, and never before the parent's start.

    `place` is its position in run order. `logs` are the records that carry its ids.
    """

    __slots__ = ("children", "end", "facts", "flags", "logs", "parent", "place", "span", "start")

    def __init__(self, span: SpanFacts) -> None:
        self.span = span
        self.facts: Facts = span.facts
        self.parent: Node | None = None
        self.children: list[Node] = []
        self.start = span.start_ns
        self.end = span.end_ns
        self.place = 0
        self.flags: list[str] = []
        self.logs: list[SpanFacts] = []

    @property
    def is_root(self) -> bool:
        """Sent as a root, which is more than having no parent here."""
        return not self.span.parent_span_id

    @property
    def is_stranded(self) -> bool:
        """At the top only because its parent is missing, itself, or its own descendant."""
        return self.parent is None and bool(self.span.parent_span_id)


def grow(spans: Iterable[SpanFacts]) -> list[Node]:
    """All spans as nodes, linked and in run order."""
    nodes = {(span.trace_id, span.span_id): Node(span) for span in spans}
    for node in nodes.values():
        _link(node, nodes)
    order = _walk(node for node in nodes.values() if node.parent is None)
    if len(order) < len(nodes):
        # What no top leads to is a cycle, or hangs from one.
        _cut_cycles(nodes.values())
        order = _walk(node for node in nodes.values() if node.parent is None)
    return order


def _link(node: Node, nodes: Mapping[tuple[str, str], Node]) -> None:
    span = node.span
    if not span.parent_span_id:
        return
    if span.parent_span_id == span.span_id:
        node.flags.append(SELF_PARENT)
        return
    node.parent = nodes.get((span.trace_id, span.parent_span_id))
    if node.parent is None:
        node.flags.append(MISSING_PARENT)
    else:
        node.parent.children.append(node)


def _cut_cycles(nodes: Iterable[Node]) -> None:
    """Every span of a cycle goes to the top: whichever link one chose to keep would be a guess."""
    settled: set[int] = set()
    for first in nodes:
        path: list[Node] = []
        on_path: dict[int, int] = {}
        node: Node | None = first
        while node is not None and id(node) not in settled and id(node) not in on_path:
            on_path[id(node)] = len(path)
            path.append(node)
            node = node.parent
        if node is not None and id(node) in on_path:
            for member in path[on_path[id(node)] :]:
                if member.parent is not None:
                    member.parent.children.remove(member)
                member.parent = None
                member.flags.append(PARENT_CYCLE)
        settled.update(on_path)


def _walk(tops: Iterable[Node]) -> list[Node]:
    """Run order by a heap of what may come next; sets `start`, `end` and `place`."""
    heap: list[tuple[int, int, str, str, Node]] = []
    for top in tops:
        _settle_times(top, 0)
        heapq.heappush(heap, (top.start, top.end, top.span.span_id, top.span.trace_id, top))
    order: list[Node] = []
    while heap:
        node = heapq.heappop(heap)[4]
        node.place = len(order)
        order.append(node)
        for child in node.children:
            _settle_times(child, node.start)
            heapq.heappush(heap, (child.start, child.end, child.span.span_id, child.span.trace_id, child))
    return order


def _settle_times(node: Node, not_before: int) -> None:
    """Effective times. Ordered by a clock that is wrong by years, one span would come before or after all others."""
    span = node.span
    start, end = span.start_ns, span.end_ns
    if 0 < start <= end <= YEAR_2100_NS and not (span.received_ns and end > span.received_ns + DAY_NS):
        node.start = max(start, not_before)
        node.end = max(end, node.start)
        return
    if IMPLAUSIBLE_TIME not in node.flags:
        node.flags.append(IMPLAUSIBLE_TIME)
    is_odd = is_absurd(start, span.received_ns)
    node.start = max(not_before, (0 if not_before else span.received_ns) if is_odd else start)
    node.end = node.start if is_absurd(end, span.received_ns) or end < start else max(node.start, end)


def is_absurd(time_ns: int, received_ns: int) -> bool:
    """No clock says this of a span already received: unset, past the year 2100, or a day ahead of its reception."""
    return time_ns <= 0 or time_ns > YEAR_2100_NS or bool(received_ns and time_ns > received_ns + DAY_NS)
