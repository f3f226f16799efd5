"""Trace lines in run order, numbered: text, calls where they were asked for, results where they came back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from collector.assemble.calls import Call
from collector.assemble.conversation import Conversation, Moment, Utterance
from collector.assemble.exchanges import Exchange
from collector.assemble.scopes import Scope
from semconv.trace_line import Role, TraceLine

# The sequence of a tool line that would else come before its own call.
AFTER = 0.0001


class Numbering:
    """Places the lines of one run and numbers them."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._lines: list[tuple[Moment, int, TraceLine]] = []
        self._counted: set[Exchange] = set()

    def add(self, conversation: Conversation, calls: Sequence[Call]) -> None:
        """Place all that was said and done."""
        by_utterance: dict[Utterance, list[Call]] = {}
        for call in calls:
            if call.request is not None:
                by_utterance.setdefault(call.request.utterance, []).append(call)
            elif call.execution is not None:
                self._add_call(call, Moment(call.execution.start, 1, call.execution.place, 0))
        for utterance in conversation.utterances:
            self._add_utterance(utterance, by_utterance.get(utterance, []))

    def numbered(self) -> list[TraceLine]:
        """The lines in order; numbers start at 1."""
        self._lines.sort(key=lambda placed: placed[:2])
        return [replace(line, n=number) for number, (_, _, line) in enumerate(self._lines, 1)]

    def _add_utterance(self, utterance: Utterance, calls: Sequence[Call]) -> None:
        """Text, then the calls asked for with it: all at the time of the message, or of the first call if earlier.

        Calls of one message come one after the other, whether they were carried out side by side or in turn.
        """
        moment = _begun(utterance, calls)
        if utterance.text:
            self._place(moment, self._text(utterance))
        for number, call in enumerate(calls, 1):
            self._add_call(call, moment._replace(sequence=moment.sequence + number / (len(calls) + 2)))

    def _add_call(self, call: Call, moment: Moment) -> None:
        self._place(moment, self._call(call, moment.time_ns))
        output, status = call.output, call.status
        error = call.execution.error if call.execution is not None else ""
        if output is None and status != "error" and not error:
            return
        answered = _answered(call) or moment
        if answered <= moment:
            answered = moment._replace(sequence=moment.sequence + AFTER)
        self._place(answered, self._result(call, answered.time_ns))

    def _place(self, moment: Moment, line: TraceLine) -> None:
        self._lines.append((moment, len(self._lines), line))

    def _text(self, utterance: Utterance) -> TraceLine:
        exchange = utterance.exchange
        role: Role = utterance.role  # type: ignore[assignment]  # the conversation keeps no other
        is_answer = role == "assistant"
        tokens = self._tokens(exchange) if is_answer and not utterance.is_told else (None, None)
        return TraceLine(
            n=0,
            role=role,
            text=utterance.text,
            message_id=_message_id(utterance),
            run_id=self._run_id,
            agent=_agent(utterance.scope, exchange.span.facts.agent),
            depth=utterance.scope.depth,
            start_ns=exchange.start,
            end_ns=exchange.end if is_answer else exchange.start,
            model=exchange.model if is_answer else "",
            input_tokens=tokens[0],
            output_tokens=tokens[1],
            dialect=exchange.span.facts.dialect,
            trace_id=exchange.span.trace_id,
            span_id=exchange.span.span_id,
        )

    def _call(self, call: Call, time_ns: int) -> TraceLine:
        execution, request = call.execution, call.request
        exchange = request.utterance.exchange if request is not None else None
        told = request is not None and request.is_told
        tokens = self._tokens(exchange) if exchange is not None and not told else (None, None)
        span = execution.span if execution is not None else exchange.span  # type: ignore[union-attr]
        value, state = call.arguments()
        return TraceLine(
            n=0,
            role="assistant",
            tool=call.tool,
            input=value,
            message_id=_message_id(request.utterance) if request is not None else "",
            run_id=self._run_id,
            call_id=call.call_id,
            agent=_agent(call.scope, span.facts.agent),
            depth=call.scope.depth,
            status=call.status,
            start_ns=execution.start if execution is not None else time_ns,
            end_ns=execution.end if execution is not None else time_ns,
            input_state=state,
            model=exchange.model if exchange is not None else "",
            input_tokens=tokens[0],
            output_tokens=tokens[1],
            dialect=span.facts.dialect,
            trace_id=span.trace_id,
            span_id=span.span_id,
            flags=execution.flags if execution is not None else (),
            tool_raw=(execution.tool_raw if execution is not None else "") or call.tool,
            server=execution.server if execution is not None else "",
            attempts=execution.attempts if execution is not None else 1,
        )

    def _result(self, call: Call, time_ns: int) -> TraceLine:
        execution = call.execution
        span = execution.span if execution is not None else call.request.utterance.exchange.span  # type: ignore[union-attr]
        return TraceLine(
            n=0,
            role="tool",
            tool=call.tool,
            output=call.output,
            run_id=self._run_id,
            call_id=call.call_id,
            agent=_agent(call.scope, span.facts.agent),
            depth=call.scope.depth,
            status=call.status,
            error=execution.error if execution is not None else "",
            start_ns=time_ns,
            end_ns=time_ns,
            dialect=span.facts.dialect,
            trace_id=span.trace_id,
            span_id=span.span_id,
            tool_raw=(execution.tool_raw if execution is not None else "") or call.tool,
            server=execution.server if execution is not None else "",
        )

    def _tokens(self, exchange: Exchange) -> tuple[int | None, int | None]:
        """The tokens of a request, on the first line it gave: added up over the lines they count once."""
        if exchange in self._counted or exchange.kind != "turn":
            return None, None
        self._counted.add(exchange)
        return exchange.input_tokens, exchange.output_tokens


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


def _agent(scope: Scope, named: str) -> str:
    """The nearest agent's name; what no agent's span encloses may name its own."""
    return scope.name or named if scope.is_reported else named or scope.name


def _message_id(utterance: Utterance) -> str:
    is_said = utterance.role == "assistant" and not utterance.is_told
    return utterance.message.id or (utterance.exchange.response_id if is_said else "")
