"""Which agent each trace line belongs to: lines of a greater depth are of an agent within."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

Json = dict[str, Any]


class _Agent:
    def __init__(self, span_id: str, parent: str, name: object) -> None:
        self.span_id, self.parent, self.name = span_id, parent, name
        self.indexes: list[int] = []


class Scopes:
    """The span of the agent of each line; `root` is that of the run's own, `made` names the one of a number."""

    def __init__(self, lines: list[Json], root: str, made: Callable[[int], str]) -> None:
        self._root = root
        self._agents: list[_Agent] = []
        self._of: list[str] = []
        inside: list[_Agent] = []
        for index, line in enumerate(lines):
            depth = int(line.get("depth") or 0)
            del inside[depth:]
            if inside and len(inside) == depth and line.get("agent") != inside[-1].name:
                inside.pop()
            while len(inside) < depth:
                parent = inside[-1].span_id if inside else root
                inside.append(_Agent(made(len(self._agents)), parent, line.get("agent")))
                self._agents.append(inside[-1])
            for agent in inside:
                agent.indexes.append(index)
            self._of.append(inside[-1].span_id if inside else root)

    def of(self, index: int) -> str:
        """The span of the agent whose line this is."""
        return self._of[index]

    def agents(self) -> Iterator[tuple[str, str, list[int]]]:
        """Span, parent and lines of each agent within."""
        for agent in self._agents:
            yield agent.span_id, agent.parent, agent.indexes
