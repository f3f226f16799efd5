"""Trace lines in run order, numbered: text, calls where they were asked for, results where they came back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from collector.assemble.calls import Call
from collector.assemble.conversation import Conversation, Moment, Utterance
from collector.assemble.exchanges import Exchange
from collector.assemble.scopes import Scope
from semconv.trace_line import TraceLine

# The sequence of a tool line that would else come before its own call.
AFTER = 0.0001

# Where a line stands, the order in which it was found, what it tells, and whether it is a call's result.
Placed: TypeAlias = tuple[Moment, int, Utterance | Call, bool]


def lines_of(run_id: str, conversation: Conversation, calls: Sequence[Call]) -> list[TraceLine]:
    """All that was said and done, in order; numbers start at 1."""
    placed: list[Placed] = []
    by_utterance: dict[Utterance, list[Call]] = {}
    for call in calls:
        if call.request is not None:
            by_utterance.setdefault(call.request.utterance, []).append(call)
        elif call.execution is not None:
            _place_call(placed, call, Moment(call.execution.start, 1, call.execution.place, 0))
    for utterance in conversation.utterances:
        _place_utterance(placed, utterance, by_utterance.get(utterance, ()))
    placed.sort(key=_position)
    writer = _Writer(run_id)
    return [writer.line(number, one) for number, one in enumerate(placed, 1)]


def _position(placed: Placed) -> tuple[Moment, int]:
    return placed[0], placed[1]


def _place_utterance(placed: list[Placed], utterance: Utterance, calls: Sequence[Call]) -> None:
    """Text, then the calls asked for with it: all at the time of the message, or of the first call if earlier.

    Calls of one message come one after the other, whether they were carried out side by side or in turn.
    """
    moment = _begun(utterance, calls) if calls else utterance.moment
    if utterance.text:
        placed.append((moment, len(placed), utterance, False))
    for number, call in enumerate(calls, 1):
        sequence = moment.sequence + number / (len(calls) + 2)
        _place_call(placed, call, Moment(moment.time_ns, moment.rank, moment.place, sequence))


def _place_call(placed: list[Placed], call: Call, moment: Moment) -> None:
    placed.append((moment, len(placed), call, False))
    error = call.execution.error if call.execution is not None else ""
    if call.output is None and call.status != "error" and not error:
        return
    answered = _answered(call) or moment
    if answered <= moment:
        answered = Moment(moment.time_ns, moment.rank, moment.place, moment.sequence + AFTER)
    placed.append((answered, len(placed), call, True))


def _begun(utterance: Utterance, calls: Iterable[Call]) -> Moment:
    """When a message was there: at its time, or when the first of its calls began, as streaming harnesses do."""
    moment = utterance.moment
    starts = [call.execution.start for call in calls if call.execution is not None]
    first = min(starts, default=moment.time_ns)
    if not utterance.is_told:
        first = max(first, utterance.since)
    if first >= moment.time_ns:
        return moment
    return Moment(first, 1, moment.place, moment.sequence)


def _answered(call: Call) -> Moment | None:
    execution = call.execution
    if execution is None:
        return call.result.moment if call.result is not None else None
    return Moment(execution.end, 0 if execution.end > execution.start else 2, execution.place, 0)


class _Writer:
    """Writes the lines of one run; the tokens of a request go to the first line it gave, so that lines add up."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._counted: set[Exchange] = set()

    def line(self, number: int, placed: Placed) -> TraceLine:
        moment, _, told, is_result = placed
        if isinstance(told, Utterance):
            return self._text(number, told)
        return self._result(number, told, moment) if is_result else self._call(number, told, moment)

    def _text(self, number: int, utterance: Utterance) -> TraceLine:
        exchange = utterance.exchange
        is_answer = utterance.role == "assistant"
        given, made = self._tokens(utterance) if is_answer else (None, None)
        return TraceLine(
            n=number,
            role=utterance.role,
            text=utterance.text,
            message_id=_message_id(utterance),
            run_id=self._run_id,
            agent=_agent(utterance.scope, exchange.span.facts.agent),
            depth=utterance.scope.depth,
            start_ns=exchange.start,
            end_ns=exchange.end if is_answer else exchange.start,
            model=exchange.model if is_answer else "",
            input_tokens=given,
            output_tokens=made,
            dialect=exchange.span.facts.dialect,
            trace_id=exchange.span.trace_id,
            span_id=exchange.span.span_id,
        )

    def _call(self, number: int, call: Call, moment: Moment) -> TraceLine:
        execution, utterance = call.execution, call.request.utterance if call.request is not None else None
        given, made = self._tokens(utterance) if utterance is not None else (None, None)
        span, scope = call.span, call.scope
        value, state = call.arguments()
        return TraceLine(
            n=number,
            role="assistant",
            tool=call.tool,
            input=value,
            message_id=_message_id(utterance) if utterance is not None else "",
            run_id=self._run_id,
            call_id=call.call_id,
            agent=_agent(scope, span.facts.agent),
            depth=scope.depth,
            status=call.status,
            start_ns=execution.start if execution is not None else moment.time_ns,
            end_ns=execution.end if execution is not None else moment.time_ns,
            input_state=state,
            model=utterance.exchange.model if utterance is not None else "",
            input_tokens=given,
            output_tokens=made,
            dialect=span.facts.dialect,
            trace_id=span.trace_id,
            span_id=span.span_id,
            flags=execution.flags if execution is not None else (),
            tool_raw=(execution.tool_raw if execution is not None else "") or call.tool,
            server=execution.server if execution is not None else "",
            attempts=execution.attempts if execution is not None else 1,
        )

    def _result(self, number: int, call: Call, moment: Moment) -> TraceLine:
        execution, span, scope = call.execution, call.span, call.scope
        return TraceLine(
            n=number,
            role="tool",
            tool=call.tool,
            output=call.output,
            run_id=self._run_id,
            call_id=call.call_id,
            agent=_agent(scope, span.facts.agent),
            depth=scope.depth,
            status=call.status,
            error=execution.error if execution is not None else "",
            start_ns=moment.time_ns,
            end_ns=moment.time_ns,
            dialect=span.facts.dialect,
            trace_id=span.trace_id,
            span_id=span.span_id,
            tool_raw=(execution.tool_raw if execution is not None else "") or call.tool,
            server=execution.server if execution is not None else "",
        )

    def _tokens(self, utterance: Utterance) -> tuple[int | None, int | None]:
        exchange = utterance.exchange
        if utterance.is_told or exchange.kind != "turn" or exchange in self._counted:
            return None, None
        self._counted.add(exchange)
        return exchange.input_tokens, exchange.output_tokens


def _agent(scope: Scope, named: str) -> str:
    """The nearest agent's name; what no agent's span encloses may name its own."""
    return scope.name or named if scope.is_reported else named or scope.name


def _message_id(utterance: Utterance) -> str:
    is_said = utterance.role == "assistant" and not utterance.is_told
    return utterance.message.id or (utterance.exchange.response_id if is_said else "")
