"""The span that speaks for a run: the one that started it, else its outermost agent, else its trace's root."""

from __future__ import annotations

from collections.abc import Iterable

from collector.assemble.identity import Members
from collector.assemble.tree import IMPLAUSIBLE_TIME, MISSING_PARENT, YEAR_2000_NS, Node
from semconv.facts import Identity
from semconv.trace_line import Status

NOTHING = Identity()


class Root:
    """What is said of a run as a whole. `agents` are its outermost agent spans, in run order."""

    def __init__(self, members: Members) -> None:
        own = set(members.nodes)
        self.tops = [node for node in members.nodes if node.parent not in own]
        self.agents = _outermost_agents(members.nodes)
        self._start = members.starts[0] if members.starts else None
        self._parentless = [node for node in self.tops if node.is_root]
        speakers: dict[Node, None] = dict.fromkeys(members.starts)
        speakers.update(dict.fromkeys(self.agents))
        speakers.update(dict.fromkeys(self._parentless))
        self.speakers = list(speakers)

    @property
    def node(self) -> Node | None:
        """The root span itself; None when only parts of the run, or log records, are there."""
        if self._start is not None:
            return self._start
        if self.agents:
            return self.agents[0]
        return self._parentless[0] if self._parentless else None

    @property
    def has_arrived(self) -> bool:
        """Whether the span that ends the run is there: spans are sent when they end, the root last.

        A root whose own parent is elsewhere (a job that handed its context down) is one only if all else is below it.
        """
        if any(node.is_root or node.parent is not None for node in self.tops):
            return True
        if len(self.tops) != 1:
            return False
        top = self.tops[0]
        if MISSING_PARENT not in top.flags or top.facts.operation in ("chat", "tool"):
            return False  # a step, stamped with its trial's attributes or not, is no root
        return top is self._start or top.facts.operation in ("agent", "workflow")

    @property
    def is_whole(self) -> bool:
        """Whether every span's parent is there, but for the root's own."""
        stranded = [node for node in self.tops if MISSING_PARENT in node.flags]
        return not stranded or (len(self.tops) == 1 and self.has_arrived)

    @property
    def is_missing(self) -> bool:
        """Whether all that is there lost its parent on the way."""
        return bool(self.tops) and all(node.is_stranded for node in self.tops)

    def status(self) -> tuple[Status, Node | None]:
        """How the run's root ended, and the span that says so: an agent's failure under a quiet root is one."""
        last = self.agents[-1:] if self.agents else []
        for node in (self._start, *last, *self._parentless):
            if node is not None and node.facts.status != "unset":
                return node.facts.status, node
        return "unset", self.node

    def identity(self, field: str) -> str:
        """A field of the run's identity: its speakers', their ancestors', else the resource's."""
        asked: set[Node] = set()
        for node in self.speakers:
            above: Node | None = node
            while above is not None and above not in asked:
                asked.add(above)
                value = getattr(above.facts.own or NOTHING, field)
                if value:
                    return str(value)
                above = above.parent
        for node in (*self.speakers, *self.tops[:1]):
            value = getattr(node.facts.resource or NOTHING, field)
            if value:
                return str(value)
        return ""

    def ended(self) -> tuple[int, bool]:
        """When the run's root ended, in ns, and whether that had to be replaced by when it was received."""
        ends = self._parentless or self.agents or self.tops
        if self._start is not None and not self._start.is_root:
            ends = [self._start]
        node = max(ends, key=lambda one: one.end)
        absurd = IMPLAUSIBLE_TIME in node.flags or node.end < YEAR_2000_NS
        return (node.span.received_ns, True) if absurd and node.span.received_ns else (node.end, absurd)


def _outermost_agents(nodes: Iterable[Node]) -> list[Node]:
    """Agent spans with no agent span of the run above them."""
    inside: set[Node] = set()
    found: list[Node] = []
    for node in nodes:
        is_agent = node.facts.operation == "agent"
        if is_agent and node.parent not in inside:
            found.append(node)
        if is_agent or node.parent in inside:
            inside.add(node)
    return found
