"""Span and log record → row: the hot loop between the spool and the store.

A row's fields are the columns of its table, in any order. Nothing is lost: a value that has no typed column goes to
`attr_other` as OTLP/JSON, a time that no calendar holds keeps its raw number beside a clamped one.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from collector.store.otlp_json import events_text, links_text, resource_text, scope_text, value_text
from semconv.facts import Facts
from semconv.span import LogRecord, Resource, Scope, Span
from semconv.values import Attributes

# Outside of these a time is absurd (zero, microseconds taken for nanoseconds, 2^64-1): its row gets the fixed
# sentinel month 1970-01 and a flag. Fixed, not relative to now: a repeated delivery must meet its twin.
FIRST_NS = 946_684_800_000_000_000  # 2000-01-01
LAST_NS = 4_102_444_800_000_000_000  # 2100-01-01
DEEPEST = 200  # levels of nested arguments; deeper ones are cut there
INT64 = range(-(1 << 63), 1 << 63)
GENERATIONS = 1 << 12  # sets of words (dialects and so on) that one store can put in order

MOVED = "moved"  # flag of a log record that other words put into another unit: its row there is the one that counts

_encode = msgspec.json.Encoder().encode
_ByKey: TypeAlias = dict[str, Any]
_NONE: _ByKey = {}


class SpanRow(Struct, frozen=True, gc=False):
    """One row of `spans` (queries/schema/0002_spans.sql). `join_keys` and `run_end` are for joins and arrivals."""

    project: str
    trace_id: str
    span_id: str
    parent_span_id: str
    trace_state: str
    trace_flags: int
    name: str
    kind: int
    start_ns: int
    end_ns: int
    start: int
    duration_ns: int
    status_code: int
    status_message: str
    attr_string: dict[str, str]
    attr_int: dict[str, int]
    attr_double: dict[str, float]
    attr_bool: dict[str, bool]
    attr_other: dict[str, str]
    events: str
    links: str
    resource: str
    scope: str
    dropped_attributes: int
    dropped_events: int
    dropped_links: int
    service: str
    service_version: str
    environment: str
    operation: str
    dialect: str
    tool: str
    call_id: str
    model: str
    agent: str
    conversation_id: str
    response_id: str
    run_id: str
    task_id: str
    error_type: str
    input_tokens: int
    output_tokens: int
    rootable: bool
    facts: bytes
    flags: tuple[str, ...]
    received_ns: int
    version: int
    join_keys: tuple[str, ...]
    run_end: bool


class LogRow(Struct, frozen=True, gc=False):
    """One row of `logs` (queries/schema/0003_logs.sql)."""

    project: str
    unit: str
    time_ns: int
    observed_ns: int
    time: int
    trace_id: str
    span_id: str
    trace_flags: int
    event_name: str
    severity_number: int
    severity_text: str
    body: str
    attr_string: dict[str, str]
    attr_int: dict[str, int]
    attr_double: dict[str, float]
    attr_bool: dict[str, bool]
    attr_other: dict[str, str]
    resource: str
    scope: str
    dropped_attributes: int
    service: str
    service_version: str
    environment: str
    operation: str
    dialect: str
    tool: str
    model: str
    agent: str
    run_id: str
    task_id: str
    facts: bytes
    flags: tuple[str, ...]
    received_ns: int
    version: int
    join_keys: tuple[str, ...]
    run_end: bool


class Batch(Struct):
    """Rows that are inserted together."""

    spans: list[SpanRow] = []
    logs: list[LogRow] = []


class _Sender(Struct, frozen=True):
    """What a resource says of who sent it, found once for all its spans."""

    resource: Resource  # held, so that its id() is not reused while this is remembered
    text: str
    service: str
    service_version: str
    environment: str


_senders: dict[int, _Sender] = {}
_scopes: dict[int, tuple[Scope, str]] = {}
_REMEMBERED = 4096


def span_row(project: str, received_ns: int, span: Span, facts: Facts, generation: int = 0) -> SpanRow:
    """The row of a span. `received_ns` orders versions of one span: the later arrival wins, then newer words."""
    sender = _sender(span.resource)
    own = facts.own
    start, duration, flags = _times(span.start_ns, span.end_ns, facts.flags)
    strings, ints, doubles, bools, others = typed(span.attributes)
    return SpanRow(
        project, span.trace_id, span.span_id, span.parent_span_id, span.trace_state, span.flags,
        span.name, span.kind, span.start_ns, span.end_ns, start, duration, span.status_code, span.status_message,
        strings, ints, doubles, bools, others,
        events_text(span.events), links_text(span.links), sender.text, _scope_text(span.scope),
        span.dropped_attributes, span.dropped_events, span.dropped_links,
        sender.service, sender.service_version, sender.environment,
        facts.operation, facts.dialect, facts.tool, facts.call_id, facts.model, facts.agent, facts.conversation_id,
        facts.response_id, own.run_id if own else "", own.task_id if own else "", facts.error_type,
        _count(facts.input_tokens), _count(facts.output_tokens),
        not span.parent_span_id or own is not None or facts.operation in ("agent", "workflow"),
        facts_text(facts), flags, received_ns, version_of(received_ns, generation),
        facts.join_keys, own is not None and own.run_end,
    )  # fmt: skip


def log_row(project: str, received_ns: int, record: LogRecord, facts: Facts, generation: int = 0) -> LogRow:
    """The row of a log record. Its unit is its trace, else its first join key, else '' (part of no run)."""
    sender = _sender(record.resource)
    own = facts.own
    time_ns = record.time_ns or record.observed_ns
    time, _, flags = _times(time_ns, time_ns, facts.flags)
    strings, ints, doubles, bools, others = typed(record.attributes)
    return LogRow(
        project, record.trace_id or (facts.join_keys[0] if facts.join_keys else ""),
        record.time_ns, record.observed_ns, time, record.trace_id, record.span_id, record.flags,
        record.event_name, record.severity_number, record.severity_text, value_text(record.body),
        strings, ints, doubles, bools, others, sender.text, _scope_text(record.scope), record.dropped_attributes,
        sender.service, sender.service_version, sender.environment,
        facts.operation, facts.dialect, facts.tool, facts.model, facts.agent,
        own.run_id if own else "", own.task_id if own else "",
        facts_text(facts), flags, received_ns, version_of(received_ns, generation),
        facts.join_keys, facts.boundary == "end" or (own is not None and own.run_end),
    )  # fmt: skip


def version_of(received_ns: int, generation: int) -> int:
    """Orders versions of one row: received µs, then the generation of the words that found its facts."""
    return received_ns // 1000 * GENERATIONS + generation


def typed(
    attributes: Attributes,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Attributes by type: text, integers, doubles, booleans, and the rest as OTLP/JSON."""
    strings: dict[str, Any] = {}
    ints = doubles = bools = others = _NONE
    for key, value in attributes.items():
        kind = type(value)
        if kind is str:
            strings[key] = value
        elif kind is int and value in INT64:
            ints = ints or {}
            ints[key] = value
        elif kind is float:
            doubles = doubles or {}
            doubles[key] = value
        elif kind is bool:
            bools = bools or {}
            bools[key] = value
        else:
            others = others or {}
            others[key] = value_text(value)
    return strings, ints, doubles, bools, others


def facts_text(facts: Facts) -> bytes:
    """Facts as JSON. What JSON cannot hold (half a surrogate pair, an integer of any size) becomes text."""
    try:
        return _encode(facts)
    except (UnicodeEncodeError, OverflowError, RecursionError):
        return _encode(_mended(facts, depth=0))


def _mended(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, int) and not isinstance(value, bool):
        return value if -(1 << 63) <= value < 1 << 64 else str(value)
    if depth > DEEPEST:
        return "…"
    if isinstance(value, Struct):
        return {name: _mended(getattr(value, name), depth + 1) for name in value.__struct_fields__}
    if isinstance(value, dict):
        return {_mended(key, depth + 1): _mended(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_mended(item, depth + 1) for item in value]
    return value


def _count(tokens: int | None) -> int:
    return tokens if tokens is not None and 0 <= tokens < 1 << 63 else 0


def _times(start_ns: int, end_ns: int, flags: tuple[str, ...]) -> tuple[int, int, tuple[str, ...]]:
    """Clamped start, duration (0 when the end is before the start) and the flags with what was wrong."""
    if FIRST_NS <= start_ns <= end_ns < LAST_NS:
        return start_ns, end_ns - start_ns, flags
    sane = FIRST_NS <= start_ns < LAST_NS
    wrong = "end_before_start" if sane and FIRST_NS <= end_ns < LAST_NS else "absurd_time"
    return start_ns if sane else 0, 0, flags if wrong in flags else (*flags, wrong)


def _sender(resource: Resource) -> _Sender:
    found = _senders.get(id(resource))
    if found is None:
        attributes = resource.attributes
        environment = attributes.get("deployment.environment.name", attributes.get("deployment.environment", ""))
        found = _Sender(
            resource,
            resource_text(resource),
            str(attributes.get("service.name", "")),
            str(attributes.get("service.version", "")),
            str(environment),
        )
        _remember(_senders, id(resource), found)
    return found


def _scope_text(scope: Scope) -> str:
    found = _scopes.get(id(scope))
    if found is None:
        found = (scope, scope_text(scope))
        _remember(_scopes, id(scope), found)
    return found[1]


def _remember(memory: dict[int, Any], key: int, value: object) -> None:
    if len(memory) >= _REMEMBERED:
        memory.clear()
    memory[key] = value
