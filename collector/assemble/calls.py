"""Logical calls: what was asked for, what carried it out and what came back, as one."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from collector.assemble.conversation import Conversation, Moment, Request, Result
from collector.assemble.executions import Execution
from collector.assemble.pairing import pair
from collector.assemble.scopes import Scope
from collector.assemble.values import better_state, canonical, has_input
from semconv.facts import Part, SpanFacts
from semconv.trace_line import InputState, Status
from semconv.values import JsonValue


class Call:
    """One logical call. Known from a request, an execution, or both; `result` is what the model was told."""

    __slots__ = ("execution", "request", "result")

    def __init__(self, request: Request | None, execution: Execution | None) -> None:
        self.request = request
        self.execution = execution
        self.result: Result | None = None

    @property
    def scope(self) -> Scope:
        if self.execution is not None and self.request is None:
            return self.execution.scope
        assert self.request is not None  # a call is known from one or the other
        return self.request.utterance.scope

    @property
    def span(self) -> SpanFacts:
        """The span or record that carried it out, else the one that asked for it."""
        if self.execution is not None:
            return self.execution.span
        assert self.request is not None
        return self.request.utterance.exchange.span

    @property
    def call_id(self) -> str:
        known = self.execution.call_id if self.execution else ""
        return known or (self.request.part.call_id if self.request else "")

    @property
    def tool(self) -> str:
        known = self.execution.tool if self.execution else ""
        return known or (self.request.part.tool if self.request else "")

    @property
    def output(self) -> JsonValue:
        """The execution's own result, else what the model was told."""
        if self.execution is not None and self.execution.output is not None:
            return self.execution.output
        return _answer(self.result.part) if self.result is not None else None

    @property
    def status(self) -> Status:
        status: Status = self.execution.status if self.execution is not None else "unset"
        return "error" if self.result is not None and self.result.part.error else status

    def arguments(self) -> tuple[JsonValue, InputState]:
        """The arguments and how they are known; a message's stand in where a span does not tell them."""
        asked: tuple[JsonValue, InputState] = (None, "not_captured")
        if self.request is not None:
            part = self.request.part
            known = part.input_state in ("object", "decoded")
            asked = (part.value, "from_messages" if known else part.input_state or "not_captured")
        execution = self.execution
        if execution is None:
            return asked
        if execution.input_state in ("", "empty") and self.request is not None and better_state(asked[1], "empty"):
            return asked
        if better_state(asked[1], execution.input_state):
            return asked
        return execution.input, execution.input_state or "not_captured"


def _answer(part: Part) -> JsonValue:
    """The result a message tells; None where content is switched off, and only the id is told."""
    return part.value if part.value is not None else part.text or None


def calls_of(conversation: Conversation, executions: Sequence[Execution]) -> list[Call]:
    """The logical calls of a run. Order is not decided here."""
    requests = [request for utterance in conversation.utterances for request in utterance.requests]
    executions = _with_attempts(_paired_with_logs(executions), requests)
    pairs = pair(sorted(requests, key=lambda request: request.utterance.moment), executions)
    calls = [Call(request, pairs.get(request)) for request in requests]
    paired = set(pairs.values())
    calls.extend(Call(None, execution) for execution in executions if execution not in paired)
    _give_results(calls, conversation.results)
    return calls


def _with_attempts(executions: Sequence[Execution], requests: Iterable[Request]) -> list[Execution]:
    """Executions of one call id folded: reported twice, or tried again after a failure.

    An id that was asked for several times, or answered and used again for something else, is of several calls: some
    models count from zero each turn.
    """
    asked: dict[tuple[Scope, str], int] = {}
    for request in requests:
        key = (request.utterance.scope, request.part.call_id)
        asked[key] = asked.get(key, 0) + 1
    latest: dict[tuple[Scope, str], Execution] = {}
    kept: list[Execution] = []
    for execution in executions:
        key = (execution.scope, execution.call_id)
        known = latest.get(key) if execution.call_id else None
        if known is not None and _joined(known, execution, is_asked_again=asked.get(key, 0) > 1):
            continue
        latest[key] = execution
        kept.append(execution)
    return kept


def _joined(known: Execution, other: Execution, *, is_asked_again: bool) -> bool:
    """Whether `other` is `known` told again, or tried again; then `known` has taken it in."""
    if not known.may_be(other.span.facts):
        return False
    if _at_one_time(known, other):
        known.extend(other)
        return True
    if is_asked_again or not known.has_input_of(other):
        return False
    if known.status == "error":
        known.retry(other)
        return True
    if known.tells_input and other.tells_input and known.may_have_answered(other):
        known.extend(other)
        return True
    return False


def _at_one_time(known: Execution, other: Execution) -> bool:
    """At one time, by span and by log, or by two log records of which one only announces the call."""
    if known.is_log or other.is_log:
        return known.is_log != other.is_log or not (known.concluded and other.concluded)
    return other.start < known.end


def _paired_with_logs(executions: Sequence[Execution]) -> list[Execution]:
    """Log records that name no id, put to the spans of the same call: same tool and arguments, in order."""
    nameless = any(execution.is_log and not execution.call_id for execution in executions)
    if not nameless:
        return list(executions)
    spans: dict[tuple[Scope, str, str], deque[Execution]] = {}
    for execution in executions:
        if not execution.is_log:
            spans.setdefault(_content(execution), deque()).append(execution)
    kept: list[Execution] = []
    for execution in executions:
        same = spans.get(_content(execution)) if execution.is_log and not execution.call_id else None
        if same and has_input(execution.input_state):
            same.popleft().extend(execution)
        else:
            kept.append(execution)
    return kept


def _content(execution: Execution) -> tuple[Scope, str, str]:
    return (execution.scope, execution.tool, canonical(execution.input))


def _give_results(calls: Sequence[Call], results: Iterable[Result]) -> None:
    """Results to their calls, each to the first that waits: by call id, else by tool."""
    waiting: dict[tuple[Scope | int, str, str], deque[Call]] = {}
    for call in sorted(calls, key=_asked_at):
        ids = {call.request.part.call_id if call.request else "", call.execution.call_id if call.execution else ""}
        ids.discard("")
        for call_id in sorted(ids):
            waiting.setdefault((call.scope, "id", call_id), deque()).append(call)
            waiting.setdefault((call.scope.depth, "id", call_id), deque()).append(call)
        if not ids:
            waiting.setdefault((call.scope, "tool", call.tool), deque()).append(call)
            waiting.setdefault((call.scope, "tool", ""), deque()).append(call)
    for result in results:
        part = result.part
        if not part.call_id:
            _give(result, waiting.get((result.scope, "tool", part.tool)))
        elif not _give(result, waiting.get((result.scope, "id", part.call_id))):
            # A conversation handed to another agent holds the results of the one before.
            _give(result, waiting.get((result.scope.depth, "id", part.call_id)))


def _give(result: Result, waiting: deque[Call] | None) -> bool:
    while waiting:
        call = waiting.popleft()
        if call.result is None:
            call.result = result
            return True
    return False


def _asked_at(call: Call) -> Moment:
    if call.request is not None:
        return call.request.utterance.moment
    assert call.execution is not None
    return Moment(call.execution.start, 1, call.execution.place, 0)
