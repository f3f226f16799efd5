"""Whose step a span is: the nearest agent above it, and how deep that agent sits below the run's own.

An agent inside an agent of the same name is one agent reported twice; an agent that only starts others is a
wrapper; a tool that asks a model has an agent inside, whether or not that agent sent a span.
"""

from __future__ import annotations

from collections.abc import Sequence

from collector.assemble.tree import Node
from semconv.facts import Facts


class Scope:
    """One agent at work in one place. `depth` 0 is the run's own agent. `node` is None for what no agent encloses."""

    __slots__ = ("active", "below_tool", "depth", "name", "node", "outer")

    def __init__(self, name: str, node: Node | None, outer: Scope | None, below_tool: bool) -> None:
        self.name = name
        self.node = node
        self.outer = outer
        self.below_tool = below_tool
        self.active = False
        self.depth = 0

    @property
    def is_reported(self) -> bool:
        """Whether the agent has a span of its own."""
        return self.node is not None and self.node.facts.operation == "agent"


class Scopes:
    """The scope of every span of a run.

    `tool_above` and `chat_above` give a span's nearest such ancestor with no agent between: what a second report of
    the same call or request is folded into.
    """

    def __init__(self, nodes: Sequence[Node], agent: str) -> None:
        self.root = Scope(agent, None, None, False)
        self.of: dict[Node, Scope] = {}
        self.tool_above: dict[Node, Node] = {}
        self.chat_above: dict[Node, Node] = {}
        self._members = set(nodes)
        self._all: list[Scope] = []
        self._hidden: dict[Node, Scope] = {}
        self._named: dict[str, Scope] = {}
        self._tools_with_models = self._find_tools_with_models(nodes)
        for node in nodes:
            self._place(node)
        for scope in self._all:
            scope.depth = _depth(scope)
            if scope.depth == 0:
                self._named.setdefault(scope.name, scope)

    @property
    def agent(self) -> str:
        """The run's own agent: the only one of its depth that did anything, else the outermost."""
        names = {scope.name for scope in self._all if scope.depth == 0 and scope.active and scope.name}
        return names.pop() if len(names) == 1 else self.root.name

    def of_log(self, facts: Facts) -> Scope:
        """The scope of a record without a span: the run's own agent, or the other one it names."""
        name = facts.agent or self.root.name
        if name not in self._named:
            if name == self.root.name:
                return self.root
            self._named[name] = Scope(name, None, self.root, False)
            self._named[name].depth = 1
        return self._named[name]

    def _above(self, node: Node) -> Node | None:
        """The parent, unless it belongs to another run."""
        return node.parent if node.parent in self._members else None

    def _find_tools_with_models(self, nodes: Sequence[Node]) -> set[Node]:
        """Tool spans below which, with no agent between, a model is asked."""
        tool_of: dict[Node, Node] = {}
        found: set[Node] = set()
        for node in nodes:
            above = self._above(node)
            if above is None or above.facts.operation == "agent":
                continue
            tool = above if above.facts.operation == "tool" else tool_of.get(above)
            if tool is not None:
                tool_of[node] = tool
                if node.facts.operation == "chat":
                    found.add(tool)
        return found

    def _place(self, node: Node) -> None:
        above = self._above(node)
        scope = self.root if above is None else self.below(above)
        if above is not None and above.facts.operation != "agent":
            self._inherit(node, above)
        if node.facts.operation == "agent":
            scope = self._enter(node, scope)
        elif node.facts.operation in ("chat", "tool"):
            scope.active = True
        self.of[node] = scope

    def below(self, above: Node) -> Scope:
        """The scope of what runs under `above`: its agent's, or that of the agent hidden in the tool `above`."""
        if above not in self._tools_with_models:
            return self.of[above]
        if above not in self._hidden:
            self._hidden[above] = self._new("", above, self.of[above], below_tool=True)
        return self._hidden[above]

    def _inherit(self, node: Node, above: Node) -> None:
        if above.facts.operation == "tool":
            if above not in self._tools_with_models:
                self.tool_above[node] = above
            return
        if above in self.tool_above:
            self.tool_above[node] = self.tool_above[above]
        chat = above if above.facts.operation == "chat" else self.chat_above.get(above)
        if chat is not None:
            self.chat_above[node] = chat

    def _enter(self, node: Node, outer: Scope) -> Scope:
        name = node.facts.agent
        below_tool = node in self.tool_above
        if not below_tool and outer.node is not None and (not name or name == outer.name):
            return outer
        return self._new(name, node, outer, below_tool=below_tool)

    def _new(self, name: str, node: Node, outer: Scope, *, below_tool: bool) -> Scope:
        scope = Scope(name or outer.name, node, outer, below_tool)
        self._all.append(scope)
        return scope


def _depth(scope: Scope) -> int:
    """Its outer agent's, and one more where that one had steps of its own or called this one as a tool."""
    outer = scope.outer
    if outer is None:
        return 0
    deeper = scope.below_tool or (outer.active and outer.node is not None)
    return outer.depth + (1 if deeper else 0)
