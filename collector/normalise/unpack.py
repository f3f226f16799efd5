"""Spool payloads to Python values: protobuf export requests in, `semconv.Span` and `LogRecord` out.

The hot loop of normalising: one pass, no reflection, Resource and Scope objects shared by their spans.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord as LogMessage
from opentelemetry.proto.resource.v1.resource_pb2 import Resource as ResourceMessage
from opentelemetry.proto.trace.v1.trace_pb2 import Span as SpanMessage

from semconv.span import Event, Link, LogRecord, Resource, Scope, Span
from semconv.values import Attributes, Value


class Repeated:
    """How many attributes had a key that came again in the same element: of those the last one counts (I11)."""

    def __init__(self) -> None:
        self.keys = 0


def spans_of(payload: bytes, repeated: Repeated | None = None) -> Iterator[Span]:
    """The spans of a serialized ExportTraceServiceRequest, in the order sent."""
    repeated = repeated or Repeated()
    for group in ExportTraceServiceRequest.FromString(payload).resource_spans:
        resource = _resource(group.resource, group.schema_url, repeated)
        for scoped in group.scope_spans:
            scope = _scope(scoped.scope, scoped.schema_url, repeated)
            for span in scoped.spans:
                yield _span(span, resource, scope, repeated)


def logs_of(payload: bytes, repeated: Repeated | None = None) -> Iterator[LogRecord]:
    """The log records of a serialized ExportLogsServiceRequest, in the order sent."""
    repeated = repeated or Repeated()
    for group in ExportLogsServiceRequest.FromString(payload).resource_logs:
        resource = _resource(group.resource, group.schema_url, repeated)
        for scoped in group.scope_logs:
            scope = _scope(scoped.scope, scoped.schema_url, repeated)
            for record in scoped.log_records:
                yield _log(record, resource, scope, repeated)


def _span(span: SpanMessage, resource: Resource, scope: Scope, repeated: Repeated) -> Span:
    status, events, links = span.status, span.events, span.links
    return Span(  # by position: five times as fast as by name, in the order of the record
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        span.name,
        span.kind,
        span.start_time_unix_nano,
        span.end_time_unix_nano,
        status.code,
        status.message,
        _attributes(span.attributes, repeated),
        tuple([_event(event, repeated) for event in events]) if events else (),
        tuple([_link(link, repeated) for link in links]) if links else (),
        resource,
        scope,
        span.trace_state,
        span.flags,
        span.dropped_attributes_count,
        span.dropped_events_count,
        span.dropped_links_count,
    )


def _log(record: LogMessage, resource: Resource, scope: Scope, repeated: Repeated) -> LogRecord:
    return LogRecord(
        time_ns=record.time_unix_nano,
        observed_ns=record.observed_time_unix_nano,
        trace_id=record.trace_id.hex(),
        span_id=record.span_id.hex(),
        event_name=record.event_name,
        severity_number=record.severity_number,
        severity_text=record.severity_text,
        body=_value(record.body),
        attributes=_attributes(record.attributes, repeated),
        resource=resource,
        scope=scope,
        flags=record.flags,
        dropped_attributes=record.dropped_attributes_count,
    )


def _event(event: SpanMessage.Event, repeated: Repeated) -> Event:
    return Event(
        event.name, event.time_unix_nano, _attributes(event.attributes, repeated), event.dropped_attributes_count
    )


def _link(link: SpanMessage.Link, repeated: Repeated) -> Link:
    return Link(
        trace_id=link.trace_id.hex(),
        span_id=link.span_id.hex(),
        trace_state=link.trace_state,
        attributes=_attributes(link.attributes, repeated),
        dropped_attributes=link.dropped_attributes_count,
        flags=link.flags,
    )


def _resource(resource: ResourceMessage, schema_url: str, repeated: Repeated) -> Resource:
    return Resource(_attributes(resource.attributes, repeated), schema_url, resource.dropped_attributes_count)


def _scope(scope: InstrumentationScope, schema_url: str, repeated: Repeated) -> Scope:
    return Scope(
        name=scope.name,
        version=scope.version,
        schema_url=schema_url,
        attributes=_attributes(scope.attributes, repeated),
        dropped_attributes=scope.dropped_attributes_count,
    )


def _attributes(pairs: Sequence[KeyValue], repeated: Repeated) -> Attributes:
    """Keys to values; of a repeated key the last value wins (I11)."""
    found: Attributes = {}
    absent = 0
    for pair in pairs:
        value = pair.value
        key = pair.key
        if not key and pair.key_strindex:
            absent += 1
            continue  # an index into a string table, which only profiles have: OTLP says to treat it as absent
        # Most values are text or counts, and asking WhichOneof costs more than both reads: only one of a oneof is set.
        found[key] = value.string_value or value.int_value or _value(value)
    repeated.keys += len(pairs) - absent - len(found)
    return found


def _value(value: AnyValue) -> Value:
    """A Python value for an AnyValue; None where it is empty, which is not ''."""
    kind = value.WhichOneof("value")
    if kind is None or kind == "string_value_strindex":
        return None
    if kind == "array_value":
        return [_value(item) for item in value.array_value.values]
    if kind == "kvlist_value":
        return {pair.key: _value(pair.value) for pair in value.kvlist_value.values}
    return getattr(value, kind)
