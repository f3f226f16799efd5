"""Requests to models, each once, with what was heard and said; and what agents and log records say beside them.

A request is reported by a framework and an SDK, by a proxy twice, by a span and by log events: these are one
exchange, on nesting or on an equal response id at the same time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from collector.assemble.scopes import Scope, Scopes
from collector.assemble.tree import Node
from semconv.facts import Facts, Message, SpanFacts
from semconv.trace_line import Status

# A 'turn' is a request to a model. A 'remark' is a log record beside it. A 'summary' is what an agent's own span
# says of the whole: used only for what no turn says.
Kind = Literal["turn", "remark", "summary"]
Placed: TypeAlias = tuple[SpanFacts, Node | None]


class Exchange:
    """Messages heard and said in one place. `start` is when it heard, `end` when it had said. Times are ns."""

    __slots__ = (
        "cost_usd",
        "end",
        "error",
        "error_type",
        "heard",
        "input_tokens",
        "kind",
        "model",
        "output_tokens",
        "place",
        "provider",
        "response_id",
        "said",
        "scope",
        "span",
        "start",
        "status",
    )

    def __init__(self, kind: Kind, span: SpanFacts, scope: Scope, place: int) -> None:
        facts = span.facts
        self.kind: Kind = kind
        self.span = span
        self.scope = scope
        self.place = place
        self.start = span.start_ns
        self.end = span.end_ns
        self.heard: tuple[Message, ...] = facts.messages_in
        self.said: tuple[Message, ...] = facts.messages_out
        self.model = facts.model
        self.provider = facts.provider
        self.response_id = facts.response_id
        self.input_tokens = facts.input_tokens
        self.output_tokens = facts.output_tokens
        self.cost_usd = facts.cost_usd
        self.status: Status = facts.status
        self.error = facts.error
        self.error_type = facts.error_type

    @property
    def has_tokens(self) -> bool:
        return self.input_tokens is not None or self.output_tokens is not None

    @property
    def answered(self) -> bool:
        """Whether a model answered: it did not fail, and what is reported is a request and not a message passed on."""
        told = self.said or self.has_tokens or self.response_id or self.model
        return self.status != "error" and bool(told or not self.heard)

    def add(self, facts: Facts) -> None:
        """Take from a second report of the same request what the first does not have."""
        if not self.heard:
            self.heard = facts.messages_in
        if not self.said:
            self.said = facts.messages_out
        if self.input_tokens is None and self.output_tokens is None:
            self.input_tokens, self.output_tokens = facts.input_tokens, facts.output_tokens
        if self.cost_usd is None:
            self.cost_usd = facts.cost_usd
        self.model = self.model or facts.model
        self.provider = self.provider or facts.provider
        self.response_id = self.response_id or facts.response_id


def exchanges_of(nodes: Sequence[Node], logs: Sequence[Placed], scopes: Scopes) -> list[Exchange]:
    """All exchanges of a run in run order. `logs` are its log records, each with the span whose ids it carries."""
    found = _turns(nodes, scopes)
    has_span_turns = bool(found)
    for node in nodes:
        facts = node.facts
        is_told = facts.messages_in or facts.messages_out or facts.final_text
        if is_told and facts.operation in ("agent", "workflow"):
            found.append(_exchange("summary", node, scopes.of[node]))
    for number, (log, carrier) in enumerate(logs):
        if carrier is not None and carrier.facts.operation == "chat":
            continue
        scope = scopes.of_log(log.facts) if carrier is None else scopes.below(carrier)
        exchange = _of_log(log, scope, len(nodes) + number, has_span_turns)
        if exchange is not None:
            found.append(exchange)
    found.sort(key=lambda exchange: (exchange.start, exchange.place))
    return found


def _turns(nodes: Sequence[Node], scopes: Scopes) -> list[Exchange]:
    chats = [node for node in nodes if node.facts.operation == "chat"]
    wrappers = _wrappers(chats, scopes)
    heads: dict[Node, Exchange] = {}
    recent: dict[tuple[Scope, str], Exchange] = {}
    found: list[Exchange] = []
    for node in chats:
        above = scopes.chat_above.get(node)
        exchange = heads.get(above) if above is not None and above not in wrappers else None
        scope = scopes.of[node]
        key = (scope, node.facts.response_id)
        if exchange is None and key[1] and key in recent and node.start < recent[key].end:
            exchange = recent[key]
        if exchange is None:
            exchange = _exchange("summary" if node in wrappers else "turn", node, scope)
            found.append(exchange)
        else:
            exchange.add(node.facts)
        heads[node] = exchange
        recent[key] = exchange
        _add_logs(exchange, node.logs)
    return found


def _wrappers(chats: Sequence[Node], scopes: Scopes) -> set[Node]:
    """Chat spans that hold several requests: a loop around a model, not a request. A retried request is one."""
    answered: dict[Node, int] = {}
    found: set[Node] = set()
    for node in reversed(chats):
        if answered.get(node, 0) >= 2:
            found.add(node)
        above = scopes.chat_above.get(node)
        if above is not None:
            if node in found:
                found.add(above)
            answered[above] = answered.get(above, 0) + (node.facts.status != "error")
    return found


def _exchange(kind: Kind, node: Node, scope: Scope) -> Exchange:
    exchange = Exchange(kind, node.span, scope, node.place)
    exchange.start, exchange.end = node.start, node.end
    return exchange


def _add_logs(exchange: Exchange, logs: Iterable[SpanFacts]) -> None:
    """Message events of a request, for the direction in which its span says nothing."""
    heard: tuple[Message, ...] = ()
    said: tuple[Message, ...] = ()
    for log in logs:
        heard = _joined(heard, log.facts.messages_in)
        said = _joined(said, log.facts.messages_out)
        if exchange.input_tokens is None and exchange.output_tokens is None:
            exchange.input_tokens, exchange.output_tokens = log.facts.input_tokens, log.facts.output_tokens
        if exchange.cost_usd is None:
            exchange.cost_usd = log.facts.cost_usd
    exchange.heard = exchange.heard or heard
    exchange.said = exchange.said or said


def _joined(known: tuple[Message, ...], more: tuple[Message, ...]) -> tuple[Message, ...]:
    """One message an event, or the whole list in each of several: the latter is not doubled."""
    if more[: len(known)] == known:
        return more or known
    return known + more


def _of_log(log: SpanFacts, scope: Scope, place: int, has_span_turns: bool) -> Exchange | None:
    """An exchange of a record without a span. Where spans report the requests, records add words and no counts."""
    facts = log.facts
    counted = facts.input_tokens is not None or facts.output_tokens is not None
    is_turn = facts.operation == "chat" and (counted or bool(facts.messages_in and facts.messages_out))
    if not (is_turn or facts.messages_in or facts.messages_out or facts.cost_usd is not None):
        return None
    exchange = Exchange("turn" if is_turn and not has_span_turns else "remark", log, scope, place)
    exchange.start = log.start_ns - (facts.duration_ns or 0)
    exchange.end = log.start_ns
    return exchange
