"""Spans and log records as received: OTLP messages with Python values, nothing interpreted."""

from __future__ import annotations

from msgspec import Struct

from semconv.values import Attributes, Value


class Event(Struct, frozen=True, gc=False):
    """A span event (opentelemetry-proto trace.proto, `Span.Event`)."""

    name: str
    time_ns: int
    attributes: Attributes
    dropped_attributes: int = 0


class Link(Struct, frozen=True, gc=False):
    """A span link (trace.proto, `Span.Link`); ids are lower-case hex."""

    trace_id: str
    span_id: str
    trace_state: str
    attributes: Attributes
    dropped_attributes: int = 0
    flags: int = 0


class Resource(Struct, frozen=True, gc=False):
    """Who sent it: one per ResourceSpans/ResourceLogs, shared by all its spans."""

    attributes: Attributes
    schema_url: str = ""
    dropped_attributes: int = 0


class Scope(Struct, frozen=True, gc=False):
    """The instrumentation scope, shared by all its spans."""

    name: str = ""
    version: str = ""
    schema_url: str = ""
    attributes: Attributes = {}
    dropped_attributes: int = 0


class Span(Struct, frozen=True, gc=False):
    """One span (trace.proto, `Span`).

    Ids are lower-case hex, `parent_span_id` is '' for a root. Times are nanoseconds since the epoch as sent
    (unsigned 64 bit, not clamped). `status_code`: 0 unset, 1 ok, 2 error. Unset is not success.
    """

    trace_id: str
    span_id: str
    parent_span_id: str
    name: str
    kind: int
    start_ns: int
    end_ns: int
    status_code: int
    status_message: str
    attributes: Attributes
    events: tuple[Event, ...]
    links: tuple[Link, ...]
    resource: Resource
    scope: Scope
    trace_state: str = ""
    flags: int = 0
    dropped_attributes: int = 0
    dropped_events: int = 0
    dropped_links: int = 0


class LogRecord(Struct, frozen=True, gc=False):
    """One log record (logs.proto, `LogRecord`). `trace_id`/`span_id` are '' when it is not associated."""

    time_ns: int
    observed_ns: int
    trace_id: str
    span_id: str
    event_name: str
    severity_number: int
    severity_text: str
    body: Value
    attributes: Attributes
    resource: Resource
    scope: Scope
    flags: int = 0
    dropped_attributes: int = 0
