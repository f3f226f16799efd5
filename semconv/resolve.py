"""One span or log record to its canonical facts: the contract's identity, then what its dialect finds.

The hot path. A span that no dialect wants costs a few microseconds; nothing a sender can put on a span raises.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import structs

from semconv.blocks import result_of, says_failed
from semconv.decode import arguments, count_of, is_cut, number_of, text_of, unwrapped
from semconv.facts import CUT_MESSAGES, CUT_VALUE, Evaluation, Facts, Message, Operation
from semconv.identity import identity_of
from semconv.messages import messages_of, system_of, text_in
from semconv.names import (
    EVALUATION_EVENT,
    EVALUATION_EXPLANATION,
    EVALUATION_LABEL,
    EVALUATION_NAME,
    EVALUATION_SCORE,
    EVENT_NAME,
    OUTCOME_SOURCE,
    REPAIRED,
    RESPONSE_ID,
    RUN_ID,
)
from semconv.registry import FAILED, Found, Plan
from semconv.sources import Source, View, first, first_given, of_log, of_span
from semconv.span import LogRecord, Span
from semconv.status import add_status, finish_reasons_of, tokens_of
from semconv.trace_line import InputState
from semconv.values import Attributes, Value
from semconv.words import Words

SERVER: Final = 2  # SpanKind
MAX_NAME: Final = 256  # characters of an event name taken from a body


def facts_of(span: Span, words: Words) -> Facts:
    """The canonical facts of a span. Never raises: what breaks a dialect leaves the span unmapped and flagged."""
    try:
        found = _start(span.attributes, span, words)
        match = words.registry.match_of(span)
        if match is not None:
            view = of_span(span)
            _read(view, match.reader.plan_of(view), found)
        elif span.status_code or span.events:
            add_status(of_span(span), None, found)
        _add_rest(span, found)
        return Facts(**found)
    except Exception:  # hostile values must cost their own span its facts, never the batch
        return _without_dialect(span, words)


def _without_dialect(span: Span, words: Words) -> Facts:
    """What the contract relies on and what a status says, of a span whose dialect broke."""
    try:
        found = _start(span.attributes, span, words)
        add_status(of_span(span), None, found)
        _add_rest(span, found)
        return Facts(**{**found, "flags": (*found.get("flags", ()), "dialect_error")})
    except Exception:
        return Facts(flags=("dialect_error",))


def _add_rest(span: Span, found: Found) -> None:
    if span.events:
        _add_evaluations(span, found)
    if span.dropped_attributes or span.dropped_events or REPAIRED in span.attributes:
        _add_losses(span, found)


def facts_of_log(log: LogRecord, words: Words) -> Facts:
    """The canonical facts of a log record, by its event name. Never raises."""
    try:
        found = _start(log.attributes, log, words)
        name = event_name_of(log)
        plan = words.registry.log_plan_of(log, name)
        if plan is not None:
            view = of_log(log, name)
            if plan.boundary:
                found["boundary"] = plan.boundary
            _read(view, plan, found)
        if name == EVALUATION_EVENT:
            evaluation = _evaluation(log.attributes, log.time_ns or log.observed_ns)
            if evaluation is not None:
                found["evaluations"] = (evaluation,)
                if not log.trace_id and evaluation.response_id:
                    found["join_keys"] = (*found.get("join_keys", ()), f"{RESPONSE_ID}={evaluation.response_id}")
        if log.dropped_attributes:
            found["lossy"] = (*found.get("lossy", ()), "dropped_attributes")
        return Facts(**found)
    except Exception:  # as for a span
        return Facts(flags=("dialect_error",))


def event_name_of(log: LogRecord) -> str:
    """The attribute `event.name`, else the field, else a short text body (Codex fills the field with a source file)."""
    name = log.attributes.get(EVENT_NAME)
    if isinstance(name, str) and name:
        return name
    if log.event_name:
        return log.event_name
    return log.body if isinstance(log.body, str) and len(log.body) <= MAX_NAME else ""


def _start(attributes: Attributes, record: Span | LogRecord, words: Words) -> Found:
    """Identity, and the keys that tie traces together."""
    found: Found = {}
    identity, keys = words.of_resource(record.resource)
    if identity is not None:
        found["resource"] = identity
    if not words.identity_keys.isdisjoint(attributes):
        own = identity_of(attributes, words.identity)
        if own is not None:
            found["own"] = own
            if own.run_id:
                keys = (f"{RUN_ID}={own.run_id}",)
    if words.group_by:
        value = attributes.get(words.group_by)
        value = value if value is not None else record.resource.attributes.get(words.group_by)
        if value is not None and value != "":
            keys = (*keys, f"{words.group_by}={text_of(value)}")
    if keys:
        found["join_keys"] = keys
    return found


def _read(view: View, plan: Plan, found: Found) -> None:
    """What the dialect finds, by what the span is."""
    operation = plan.operation
    found["dialect"] = plan.dialect
    found["operation"] = operation
    known = ""
    _add_text(view, found, "agent", plan.agent)
    _add_text(view, found, "conversation_id", plan.conversation)
    if operation == "tool":
        known = "result" if _add_call(view, plan, found) else ""
    elif operation in _WITH_MESSAGES:
        _add_model(view, plan, found)
        _add_messages(view, plan, found)
        if operation != "chat":
            _add_end(view, plan, found)
    if plan.attempt or plan.sequence or plan.duration_ms:
        _add_attempt(view, plan, found)
    if plan.join:
        key = text_of(first(view, plan.join))
        if key:
            found["join_keys"] = (*found.get("join_keys", ()), f"{plan.dialect}={key}")
    if plan.refine is not None:
        plan.refine(view, found)
        known = found.pop(FAILED, "") or known
    add_status(view, plan, found, known)


_WITH_MESSAGES: Final[frozenset[Operation]] = frozenset(["chat", "agent", "workflow"])


def _add_text(view: View, found: Found, field: str, sources: tuple[Source, ...]) -> None:
    if sources:
        value = first(view, sources)
        if value is not None:
            found[field] = value if type(value) is str and value[:1] != '"' else text_of(value)


def _add_call(view: View, plan: Plan, found: Found) -> bool:
    """A tool call: name, server, id, arguments, result. True where the result's wrapper says it failed."""
    raw = text_of(first(view, plan.tool))
    server = text_of(first(view, plan.server)) if plan.server else ""
    tool, server = canonical(raw, server)
    found["tool"], found["tool_raw"] = tool, raw
    if server:
        found["server"] = server
    _add_text(view, found, "call_id", plan.call_id)
    if getattr(view.record, "kind", 0) == SERVER:
        found["flags"] = (*found.get("flags", ()), "server_side")
    value, state = arguments(first_given(view, plan.input))
    if plan.input_unwrap and state in ("object", "decoded"):
        value, state = _unwrap(value, state, plan.input_unwrap)
    found["input"], found["input_state"] = value, state
    if state == "truncated":
        found["lossy"] = (CUT_VALUE,)
    output = first_given(view, plan.output)
    if output is None:
        return False
    answer = result_of(output)
    if plan.output_unwrap:
        inner = unwrapped_result(answer.value, plan.output_unwrap)
        if inner is not answer.value:
            failed = answer.failed or says_failed(answer.value)
            answer = result_of(inner)
            answer = answer._replace(failed=failed or answer.failed)
    found["output"] = answer.value
    if answer.call_id and not found.get("call_id"):
        found["call_id"] = answer.call_id
    if isinstance(answer.value, str) and answer.value[:1] in ("{", "[") and is_cut(answer.value):
        found["lossy"] = (CUT_VALUE,)
    return answer.failed


def canonical(tool: str, server: str) -> tuple[str, str]:
    """A tool's own name and its MCP server's: `mcp__github__create_issue` is `create_issue` of `github`."""
    if tool.startswith("mcp__"):
        parts = tool.split("__", 2)
        if len(parts) == 3 and parts[1] and parts[2]:
            return parts[2], server or parts[1]
    return tool, server


def _unwrap(value: Value, state: InputState, keys: tuple[str, ...]) -> tuple[Value, InputState]:
    inner = unwrapped(value, keys)
    if inner is value:
        return value, state
    if isinstance(inner, dict):
        return inner, state
    opened, opened_state = arguments(inner)
    return (opened, "decoded") if opened_state in ("object", "decoded") else (opened, opened_state)


def unwrapped_result(value: Value, keys: tuple[str, ...]) -> Value:
    """What a result's wrapper holds (`{"output": …}`), unchanged where there is none."""
    if isinstance(value, dict):
        for key in keys:
            if key in value:
                return value[key]
    return value


def _add_model(view: View, plan: Plan, found: Found) -> None:
    _add_text(view, found, "model", plan.model)
    _add_text(view, found, "provider", plan.provider)
    _add_text(view, found, "response_id", plan.response_id)
    reasons = first(view, plan.finish_reasons)
    if reasons is not None:
        found["finish_reasons"] = finish_reasons_of(reasons, view)
    tokens = tokens_of(view, plan)
    if tokens is not None:
        found["input_tokens"] = tokens
    tokens = count_of(first(view, plan.output_tokens))
    if tokens is not None:
        found["output_tokens"] = tokens
    cost = number_of(first(view, plan.cost_usd)) if plan.cost_usd else None
    if cost is not None and cost >= 0:
        found["cost_usd"] = float(cost)


def _add_messages(view: View, plan: Plan, found: Found) -> None:
    said = first(view, plan.system) if plan.system else None
    system = system_of(said) if said is not None else ()
    messages = _messages(view, plan.messages_in, "user", found)
    if system and any(message.role == "system" for message in messages):
        system = ()  # some repeat the instructions as the first message
    if system or messages:
        found["messages_in"] = (*system, *messages)
    answers = _messages(view, plan.messages_out, "assistant", found)
    if answers:
        # Gemini CLI logs what the model said under the role `system`.
        found["messages_out"] = tuple(
            structs.replace(one, role="assistant") if one.role == "system" else one for one in answers
        )


def _messages(view: View, sources: tuple[Source, ...], role: str, found: Found) -> tuple[Message, ...]:
    """The messages of the first source that has any."""
    for source in sources:
        value = first(view, (source,))
        if value is None:
            continue
        if isinstance(value, str) and value[:1] in ("[", "{"):
            opened = view.parsed(f"$messages {source}", value)
            if opened is None and is_cut(value):
                found["lossy"] = (CUT_MESSAGES,)
                continue
            value = value if opened is None else opened
        messages = messages_of(value, role)
        if messages:
            return messages
    return ()


def _add_end(view: View, plan: Plan, found: Found) -> None:
    text = first(view, plan.final_text) if plan.final_text else None
    final = text_of(text) if text is not None else text_in(found.get("messages_out", ()), "assistant")
    if final:
        found["final_text"] = final
    _add_text(view, found, "subtype", plan.subtype)
    turns = count_of(first(view, plan.num_turns)) if plan.num_turns else None
    if turns is not None:
        found["num_turns"] = turns


def _add_attempt(view: View, plan: Plan, found: Found) -> None:
    attempt = text_of(first(view, plan.attempt)) if plan.attempt else ""
    if attempt:
        found["attempt"] = attempt
    sequence = count_of(first(view, plan.sequence)) if plan.sequence else None
    if sequence is not None:
        found["sequence"] = sequence
    duration = number_of(first(view, plan.duration_ms)) if plan.duration_ms else None
    if duration is not None and 0 <= duration < 1e12:
        found["duration_ns"] = int(duration * 1_000_000)


def _add_losses(span: Span, found: Found) -> None:
    losses = found.get("lossy", ())
    if span.dropped_attributes:
        losses = (*losses, "dropped_attributes")
    if span.dropped_events:
        losses = (*losses, "dropped_events")
    marks = span.attributes.get(REPAIRED)
    if isinstance(marks, list) and any(isinstance(mark, str) and mark.startswith(CUT_VALUE) for mark in marks):
        losses = (*losses, CUT_VALUE)
    found["lossy"] = losses


def _add_evaluations(span: Span, found: Found) -> None:
    evaluations = [
        _evaluation(event.attributes, event.time_ns) for event in span.events if event.name == EVALUATION_EVENT
    ]
    if evaluations:
        found["evaluations"] = tuple(one for one in evaluations if one is not None)


def _evaluation(attributes: Attributes, time_ns: int) -> Evaluation | None:
    """An evaluation event; None without its name, which the convention requires."""
    text: Callable[[str], str] = lambda key: text_of(attributes.get(key))  # noqa: E731
    name = text(EVALUATION_NAME)
    if not name:
        return None
    score = attributes.get(EVALUATION_SCORE)
    return Evaluation(
        name=name,
        label=text(EVALUATION_LABEL),
        score=float(score) if score is True or score is False else number_of(score),
        explanation=text(EVALUATION_EXPLANATION),
        response_id=text(RESPONSE_ID),
        source=text(OUTCOME_SOURCE),
        time_ns=time_ns,
    )
