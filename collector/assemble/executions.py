"""Tool calls as carried out, each once: the spans and log records of one call folded, its attempts counted.

Folded on evidence only: one inside the other with the same tool and arguments, a server's side inside its client's
time, or one call id. Never because two calls have one name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from collector.assemble.exchanges import Placed
from collector.assemble.scopes import Scope, Scopes
from collector.assemble.tree import MISSING_PARENT, Node
from collector.assemble.values import better_state, has_input, same_input
from semconv.facts import Facts, SpanFacts
from semconv.trace_line import InputState, Status
from semconv.values import JsonValue

SERVER_SIDE = "server_side"
_OUTER = ("tool", "agent")
MAX_OPEN = 64  # clients of one tool at work at one time that are looked through for a server's span


class Execution:
    """One tool call as carried out. `attempts` counts its retries under one call id; the last one's result counts."""

    __slots__ = (
        "attempts",
        "call_id",
        "dialect",
        "end",
        "error",
        "flags",
        "input",
        "input_state",
        "output",
        "place",
        "scope",
        "server",
        "span",
        "start",
        "status",
        "tool",
        "tool_raw",
    )

    def __init__(self, span: SpanFacts, scope: Scope, place: int) -> None:
        facts = span.facts
        self.span = span
        self.scope = scope
        self.place = place
        self.start = span.start_ns
        self.end = span.end_ns
        self.tool = facts.tool
        self.tool_raw = facts.tool_raw
        self.server = facts.server
        self.call_id = facts.call_id
        self.input = facts.input
        self.input_state: InputState = facts.input_state
        self.output = facts.output
        self.status: Status = facts.status
        self.error = facts.error
        self.dialect = facts.dialect
        self.flags: tuple[str, ...] = facts.flags
        self.attempts = 1

    @property
    def is_log(self) -> bool:
        return self.span.signal == "log"

    @property
    def concluded(self) -> bool:
        """Whether it tells how the call went, not only that it was to be made."""
        return self.status != "unset" or self.output is not None

    def may_be(self, facts: Facts) -> bool:
        """Whether `facts` can report this very call: nothing they both tell differs.

        With one call id the arguments need not be equal: a span may name the command where a log has all of them.
        """
        if self.tool and facts.tool and self.tool != facts.tool:
            return False
        if self.call_id and facts.call_id:
            return self.call_id == facts.call_id
        return same_input(self.input, self.input_state, facts.input, facts.input_state)

    def has_input_of(self, other: Execution) -> bool:
        return same_input(self.input, self.input_state, other.input, other.input_state)

    @property
    def tells_input(self) -> bool:
        return has_input(self.input_state)

    def may_have_answered(self, other: Execution) -> bool:
        """Whether both can tell of one answer: the same, or only one of them tells it."""
        return self.output is None or other.output is None or bool(self.output == other.output)

    def add(self, facts: Facts) -> None:
        """Take from a second report of this call what the first does not have; a failure anywhere is one."""
        self.tool = self.tool or facts.tool
        self.tool_raw = self.tool_raw or facts.tool_raw
        self.server = self.server or facts.server
        self.call_id = self.call_id or facts.call_id
        self.dialect = self.dialect or facts.dialect
        if better_state(facts.input_state, self.input_state) or _says_more(facts.input, self.input):
            self.input, self.input_state = facts.input, facts.input_state
        if self.output is None:
            self.output = facts.output
        if facts.status == "error" or self.status == "unset":
            self.status = facts.status
        self.error = self.error or facts.error
        self.flags += tuple(flag for flag in facts.flags if flag not in self.flags and flag != SERVER_SIDE)

    def extend(self, other: Execution) -> None:
        """`other` reports this attempt too, at its own time."""
        self.start, self.end = min(self.start, other.start), max(self.end, other.end)
        self.add(other.span.facts)

    def retry(self, other: Execution) -> None:
        """`other` is the next attempt at this call: its result replaces this one's."""
        self.attempts += other.attempts
        self.end = max(self.end, other.end)
        self.output, self.status, self.error = other.output, other.status, other.error
        if better_state(other.input_state, self.input_state):
            self.input, self.input_state = other.input, other.input_state


def _says_more(value: JsonValue, known: JsonValue) -> bool:
    """Whether `value` has all the arguments of `known`, and others beside them."""
    if not isinstance(value, dict) or not isinstance(known, dict) or len(value) <= len(known):
        return False
    return all(key in value and value[key] == known[key] for key in known)


def executions_of(nodes: Sequence[Node], logs: Sequence[Placed], scopes: Scopes) -> list[Execution]:
    """All executions of a run in run order; executions of one id are not joined here: that takes knowing how often it
    was asked for (`calls`)."""
    folded: dict[Node, Execution] = {}
    found: list[Execution] = []
    stranded = _stranded(nodes)
    for node in nodes:
        if node.facts.operation == "tool":
            outer = folded.get(scopes.tool_above[node]) if node in scopes.tool_above else None
            if outer is not None and outer.may_be(node.facts):
                outer.add(node.facts)
                folded[node] = outer
                continue
            folded[node] = _execution(node, scopes.of[node])
            if node in stranded and MISSING_PARENT not in node.flags:
                folded[node].flags += (MISSING_PARENT,)
            found.append(folded[node])
    found = _fold_servers(found)
    found.extend(_of_logs(logs, folded, scopes, len(nodes)))
    found.sort(key=lambda execution: (execution.start, execution.place))
    return found


def _stranded(nodes: Sequence[Node]) -> set[Node]:
    """Spans with an ancestor missing, up to the next tool or agent: it may be the outside of their own call."""
    found: set[Node] = set()
    for node in nodes:  # parents first
        above = node.parent
        if MISSING_PARENT in node.flags if above is None else above in found and above.facts.operation not in _OUTER:
            found.add(node)
    return found


def _execution(node: Node, scope: Scope) -> Execution:
    execution = Execution(node.span, scope, node.place)
    execution.start, execution.end = node.start, node.end
    execution.flags += tuple(node.flags)
    return execution


def _fold_servers(found: Sequence[Execution]) -> list[Execution]:
    """Put what a server reports into its client's call where tracing made the two siblings, not parent and child.

    The client's is the last one begun, of the same tool and arguments, whose time contains the server's.
    """
    kept: list[Execution] = []
    clients: dict[str, list[Execution]] = {}
    for execution in found:
        if SERVER_SIDE not in execution.flags:
            clients.setdefault(execution.tool, []).append(execution)
            kept.append(execution)
            continue
        waiting = clients.get(execution.tool, [])
        while waiting and waiting[-1].end < execution.start:
            waiting.pop()
        recent = islice(reversed(waiting), MAX_OPEN)
        client = next((one for one in recent if _contains(one, execution)), None)
        if client is None:
            kept.append(execution)
        else:
            client.add(execution.span.facts)
    return kept


def _contains(client: Execution, server: Execution) -> bool:
    return client.start <= server.start and server.end <= client.end and client.may_be(server.span.facts)


def _of_logs(logs: Sequence[Placed], folded: dict[Node, Execution], scopes: Scopes, place: int) -> Iterable[Execution]:
    """Executions that log records tell of: those of a span's own call are added to it."""
    for number, (log, node) in enumerate(logs):
        if log.facts.operation != "tool":
            continue
        of_span = folded.get(node) if node is not None else None
        if of_span is not None and of_span.may_be(log.facts):
            of_span.add(log.facts)
            continue
        scope = scopes.of_log(log.facts) if node is None else scopes.below(node)
        execution = Execution(log, scope, place + number)
        execution.start = log.start_ns - (log.facts.duration_ns or 0)
        execution.end = log.start_ns
        yield execution
