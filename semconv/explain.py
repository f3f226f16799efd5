"""Why a span gave what it gave: which dialect read it, on what evidence, and why a fact is missing.

For `passhat doctor`: the same registry and the same facts as in production, said in words.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from semconv.decode import is_withheld
from semconv.facts import CUT_MESSAGES, CUT_VALUE, Facts
from semconv.registry import Matched, Plan
from semconv.resolve import event_name_of, facts_of, facts_of_log
from semconv.sources import of_span
from semconv.span import LogRecord, Span
from semconv.values import Attributes
from semconv.words import Words

MAX_SHOWN = 5  # attribute names listed for a span nobody knows


class Missing(Struct, frozen=True):
    """A fact that is not there, and in one sentence why and what would change it."""

    fact: str
    why: str


class Explanation(Struct, frozen=True):
    """What became of one span or log record: `dialect` is '' where none knew it, `evidence` what it was known by."""

    name: str
    scope: str
    dialect: str
    evidence: str
    facts: Facts
    missing: tuple[Missing, ...]


def explain(span: Span, words: Words) -> Explanation:
    """What became of a span."""
    facts = facts_of(span, words)
    match = words.registry.match_of(span)
    if match is None:
        why = (Missing("dialect", _unknown(span.scope.name, span.attributes)),)
        return Explanation(span.name, span.scope.name, "", "", facts, why)
    view = of_span(span)
    plan = match.reader.plan_of(view)
    missing = (*_missing(facts, plan, span.attributes), *_losses(span))
    return Explanation(span.name, span.scope.name, facts.dialect, _evidence(match), facts, missing)


def explain_log(log: LogRecord, words: Words) -> Explanation:
    """What became of a log record."""
    name = event_name_of(log)
    facts = facts_of_log(log, words)
    plan = words.registry.log_plan_of(log, name)
    if plan is None:
        why = (Missing("dialect", _unknown(log.scope.name, log.attributes)),)
        return Explanation(name, log.scope.name, "", "", facts, why)
    evidence = f"event {name!r} of scope {log.scope.name!r}"
    return Explanation(
        name, log.scope.name, facts.dialect, evidence, facts, tuple(_missing(facts, plan, log.attributes))
    )


def _evidence(match: Matched) -> str:
    when = match.when
    parts = [f"scope {when.scope!r}"] if when.scope else []
    if when.attribute:
        parts.append(f"attribute {when.attribute!r}" + (f" = {when.equals!r}" if when.equals else ""))
    if when.name:
        parts.append(f"name {when.name!r}")
    return " and ".join(parts)


def _unknown(scope: str, attributes: Attributes) -> str:
    keys = sorted(attributes)
    shown = ", ".join(keys[:MAX_SHOWN]) + (f" and {len(keys) - MAX_SHOWN} more" if len(keys) > MAX_SHOWN else "")
    named = f"its scope is {scope!r}" if scope else "it has no scope"
    return (
        f"no dialect knows this record: {named}, its attributes are {shown or 'none'};"
        " it is kept as sent, and a file under `dialects:` can say what it means"
    )


def _missing(facts: Facts, plan: Plan, attributes: Attributes) -> Iterable[Missing]:
    if "dialect_error" in facts.flags:
        yield Missing("everything", f"reading it as {plan.dialect} failed on a value; it is kept as sent")
        return
    hint = _content_hint(plan, attributes)
    if facts.operation == "tool":
        yield from _missing_of_call(facts, plan, hint)
    elif facts.operation in ("chat", "agent", "workflow"):
        yield from _missing_of_talk(facts, plan, hint)
    if not {CUT_VALUE, CUT_MESSAGES}.isdisjoint(facts.lossy):
        yield Missing(
            "whole content",
            "a JSON value stops in the middle: raise OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT of the emitter",
        )


def _missing_of_talk(facts: Facts, plan: Plan, hint: str) -> Iterable[Missing]:
    """What a model call or an agent does not tell, of what its dialect has a source for."""
    talks = plan.messages_in or plan.messages_out
    if talks and not facts.messages_in and not facts.messages_out:
        yield Missing("messages", f"not on it{hint}")
    if facts.operation != "chat":
        if not facts.agent:
            yield Missing("agent", f"not sent; looked for {_named(plan, 'agent')}")
        return
    if plan.input_tokens and facts.input_tokens is None and facts.output_tokens is None:
        yield Missing("tokens", f"not sent; looked for {_named(plan, 'input_tokens')}")
    if plan.model and not facts.model:
        yield Missing("model", f"not sent; looked for {_named(plan, 'model')}")


def _missing_of_call(facts: Facts, plan: Plan, hint: str) -> Iterable[Missing]:
    if not facts.tool:
        yield Missing("tool", f"no name sent; looked for {_named(plan, 'tool')}")
    if not facts.call_id:
        yield Missing("call_id", "not sent: calls are matched with messages by tool, arguments and order instead")
    if facts.input_state == "not_captured":
        yield Missing("input", f"not captured{hint}")
    elif facts.input_state in ("text", "truncated"):
        yield Missing("input as an object", f"the arguments are {facts.input_state}, checks of them are unknown")
    if facts.output is None:
        told = ": the call failed, its error is kept" if facts.status == "error" else hint
        yield Missing("output", f"no result captured{told}")
    if facts.status == "unset":
        yield Missing("status", "nobody said whether it worked: neither status, error, exit code nor result tell")


def _content_hint(plan: Plan, attributes: Attributes) -> str:
    for key, value in attributes.items():
        if isinstance(value, str) and is_withheld(value):
            return f": {key} is {value}; {plan.content}" if plan.content else f": {key} is {value}"
    return f"; {plan.content}" if plan.content else ""


def _named(plan: Plan, field: str) -> str:
    sources: tuple[str, ...] = getattr(plan.fields, field)
    return ", ".join(sources) or "nothing: the dialect has no source for it"


def _losses(span: Span) -> Iterable[Missing]:
    if span.dropped_attributes:
        yield Missing(
            f"{span.dropped_attributes} attributes",
            "dropped by the SDK, the oldest first: raise OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT",
        )
    if span.dropped_events:
        yield Missing(f"{span.dropped_events} events", "dropped by the SDK: raise OTEL_SPAN_EVENT_COUNT_LIMIT")
