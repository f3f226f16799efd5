"""Checks a decoded request: a bad span costs itself, a bad value is repaired and marked, the rest is untouched.

The pass over valid spans is the receiver's hot loop: a handful of field reads a span, nothing per attribute.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collector.journal import Signal
from collector.receive.findings import INVALID_ID, INVALID_LINK, INVALID_PARENT, TRUNCATED, Findings
from collector.receive.limits import Limits

ZERO_TRACE = bytes(16)
ZERO_SPAN = bytes(8)
OWN_NAME = "passhat"


class Shape(NamedTuple):
    """How the messages of one signal are named; `groups`, `scopes` and `records` in protobuf and JSON."""

    request: Any
    response: Any
    record: Descriptor
    groups: str
    scopes: str
    records: str
    json_groups: str
    json_scopes: str
    json_records: str
    rejected: str  # field of partial_success
    json_rejected: str
    noun: str


SHAPES: dict[Signal, Shape] = {
    "traces": Shape(
        ExportTraceServiceRequest,
        ExportTraceServiceResponse,
        Span.DESCRIPTOR,
        *("resource_spans", "scope_spans", "spans"),
        *("resourceSpans", "scopeSpans", "spans"),
        *("rejected_spans", "rejectedSpans", "spans"),
    ),
    "logs": Shape(
        ExportLogsServiceRequest,
        ExportLogsServiceResponse,
        LogRecord.DESCRIPTOR,
        *("resource_logs", "scope_logs", "log_records"),
        *("resourceLogs", "scopeLogs", "logRecords"),
        *("rejected_log_records", "rejectedLogRecords", "log records"),
    ),
}


class Group(NamedTuple):
    """The spans or logs of one resource: who sent them, how many are valid, and the message."""

    project: str  # as the resource names it, '' for none
    service: str
    records: int
    message: Any


def check(request: Any, signal: Signal, size: int, limits: Limits, findings: Findings) -> list[Group]:
    """Checks every record of a decoded request, in place; `size` is its length as sent, inflated."""
    shape = SHAPES[signal]
    checker = _Checker(signal, limits, findings, large=size > limits.max_value_bytes)
    groups: list[Group] = []
    for g, group in enumerate(getattr(request, shape.groups)):
        project, service = _names(group.resource.attributes)
        if checker.large:
            checker.cut_long(group.resource, group.resource)
        records = 0
        for s, scope in enumerate(getattr(group, shape.scopes)):
            if service == OWN_NAME and scope.scope.name.startswith(OWN_NAME):
                checker.ignore(getattr(scope, shape.records))
                continue
            path = f"{shape.json_groups}[{g}].{shape.json_scopes}[{s}].{shape.json_records}"
            records += checker.check(getattr(scope, shape.records), path)
        groups.append(Group(project, service, records, group))
    return groups


def _names(attributes: Any) -> tuple[str, str]:
    """The project and the service that a resource names; of a repeated key the last value counts."""
    project = service = ""
    for attribute in attributes:
        key = attribute.key
        if key == "passhat.project":
            project = attribute.value.string_value
        elif key == "service.name":
            service = attribute.value.string_value
    return project, service


class _Checker:
    def __init__(self, signal: Signal, limits: Limits, findings: Findings, large: bool) -> None:
        self._limits = limits
        self._findings = findings
        self._left = limits.max_records
        self._bad = self._bad_spans if signal == "traces" else self._bad_logs
        self.large = large  # only then can a value be over its limit

    def ignore(self, records: Any) -> None:
        """passhat's own telemetry must not be graded: it is left out and counted."""
        self._findings.ignored += len(records)
        self._findings.changed = self._findings.changed or len(records) > 0
        del records[:]

    def check(self, records: Any, path: str) -> int:
        """Checks the records of one scope, takes the bad ones out and returns how many are left."""
        bad = self._bad(records, path)
        if len(records) - len(bad) > self._left:
            bad = self._too_many(records, bad, path)
        if bad:
            _remove(records, bad, self._findings)
        self._left -= len(records)
        if self.large:
            for record in records:
                if record.ByteSize() > self._limits.max_value_bytes:
                    self.cut_long(record, record)
        return len(records)

    def _bad_spans(self, spans: Any, path: str) -> list[int]:
        bad: list[int] = []
        most = self._limits.max_attributes
        for i, span in enumerate(spans):
            trace_id = span.trace_id
            span_id = span.span_id
            if len(trace_id) != 16 or len(span_id) != 8 or trace_id == ZERO_TRACE or span_id == ZERO_SPAN:
                bad.append(i)
                self._refuse_ids(trace_id, f"{path}[{i}]")
                continue
            parent = span.parent_span_id
            if parent and (len(parent) != 8 or parent == ZERO_SPAN):
                self._clear_parent(span)
            if span.links:
                self._check_links(span)
            if len(span.attributes) > most:
                self._cut_attributes(span, span, "attributes")
            if span.events:
                for event in span.events:
                    if len(event.attributes) > most:
                        self._cut_attributes(span, event, "events.attributes")
        return bad

    def _refuse_ids(self, trace_id: bytes, path: str) -> None:
        if len(trace_id) != 16 or trace_id == ZERO_TRACE:
            why = "must be 16 bytes (32 hex digits in JSON) and not all zero"
            self._findings.refuse("invalid_trace_id", f"{path}.traceId", why)
        else:
            why = "must be 8 bytes (16 hex digits in JSON) and not all zero"
            self._findings.refuse("invalid_span_id", f"{path}.spanId", why)

    def _clear_parent(self, span: Any) -> None:
        if len(span.parent_span_id) == 8:
            self._findings.changed = True  # all zero is another way to say: a root
        else:
            self._findings.repair(span, INVALID_PARENT, "parentSpanId")
        span.parent_span_id = b""

    def _check_links(self, span: Any) -> None:
        bad = [
            i
            for i, link in enumerate(span.links)
            if len(link.trace_id) != 16
            or len(link.span_id) != 8
            or link.trace_id == ZERO_TRACE
            or link.span_id == ZERO_SPAN
        ]
        for i in bad:
            self._findings.repair(span, INVALID_LINK, f"links[{i}]")
        if bad:
            _remove(span.links, bad, self._findings)
            span.dropped_links_count = min(span.dropped_links_count + len(bad), 0xFFFFFFFF)
        for link in span.links:
            if len(link.attributes) > self._limits.max_attributes:
                self._cut_attributes(span, link, "links.attributes")

    def _bad_logs(self, logs: Any, path: str) -> list[int]:
        bad: list[int] = []
        for i, log in enumerate(logs):
            trace_id = log.trace_id
            span_id = log.span_id
            if trace_id and (len(trace_id) != 16 or trace_id == ZERO_TRACE):
                self._clear_id(log, "trace_id", "traceId")
            if span_id and (not log.trace_id or len(span_id) != 8 or span_id == ZERO_SPAN):
                self._clear_id(log, "span_id", "spanId")
            if not log.time_unix_nano and not log.observed_time_unix_nano and _is_span(log):
                bad.append(i)
                self._findings.refuse(
                    "wrong_signal", f"{path}[{i}]", "this is no log record: was it meant for /v1/traces?"
                )
            elif len(log.attributes) > self._limits.max_attributes:
                self._cut_attributes(log, log, "attributes")
        return bad

    def _clear_id(self, log: Any, field: str, shown: str) -> None:
        if any(getattr(log, field)) and (field == "trace_id" or log.trace_id):
            self._findings.repair(log, INVALID_ID, shown)
        self._findings.changed = True
        setattr(log, field, b"")

    def _cut_attributes(self, element: Any, holder: Any, where: str) -> None:
        most = self._limits.max_attributes
        over = len(holder.attributes) - most
        del holder.attributes[most:]
        holder.dropped_attributes_count = min(holder.dropped_attributes_count + over, 0xFFFFFFFF)
        self._findings.repair(element, TRUNCATED, f"{where} (to {most})")

    def _too_many(self, records: Any, bad: list[int], path: str) -> list[int]:
        gone = set(bad)
        good = [i for i in range(len(records)) if i not in gone]
        over = good[self._left :]
        why = f"a request holds at most {self._limits.max_records} records: send smaller batches"
        self._findings.refuse("too_many", f"{path}[{over[0]}]", why, len(over))
        return sorted(gone.union(over))

    def cut_long(self, element: Any, message: Message, where: str = "") -> None:
        """Cuts every text and bytes value of `message` that is over the limit, and marks it on `element`."""
        for field, value in message.ListFields():
            shown = where if field.name in _SILENT else f"{where}.{field.json_name}".lstrip(".")
            if field.type == FieldDescriptor.TYPE_MESSAGE:
                for child in value if isinstance(value, Sequence) else (value,):
                    key = getattr(child, "key", None)
                    self.cut_long(element, child, shown if key is None else f"{shown}.{key[:100]}")
            elif field.type in (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES):
                self._cut_value(element, message, field, shown)

    def _cut_value(self, element: Any, message: Message, field: FieldDescriptor, where: str) -> None:
        value = getattr(message, field.name)
        raw = value.encode() if isinstance(value, str) else value
        most = self._limits.max_value_bytes
        if len(raw) > most:
            cut = raw[:most]
            setattr(message, field.name, cut.decode("utf-8", "ignore") if isinstance(value, str) else cut)
            self._findings.repair(element, TRUNCATED, f"{where} ({len(raw)} bytes)")


_SILENT = frozenset({"key", "value", "values", "string_value", "bytes_value", "array_value", "kvlist_value"})


def _is_span(log: Any) -> bool:
    """A span read as a log record: its trace id (bytes, field 1) stands where a log has a time (fixed64, field 1)."""
    unknown = UnknownFieldSet(log)
    return any(unknown[i].field_number == 1 and unknown[i].wire_type == 2 for i in range(len(unknown)))


def _remove(records: Any, bad: list[int], findings: Findings) -> None:
    """Takes some items out of a repeated field in linear time. Those kept may be copies then: their marks go along."""
    if len(bad) == len(records):
        del records[:]
    elif len(bad) <= 16:
        for i in reversed(bad):
            del records[i]
    else:
        gone = set(bad)
        kept = [record for i, record in enumerate(records) if i not in gone]
        del records[:]
        records.extend(kept)
        for old, new in zip(kept, records, strict=True):
            findings.moved(old, new)
