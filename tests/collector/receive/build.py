"""Requests for tests, built from the protobuf messages; JSON by the stock encoder, its base64 ids turned into hex."""

from __future__ import annotations

import base64
import json
from typing import Any

from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span

TRACE = bytes.fromhex("a0000000000000000000000000000001")
START = 1_793_000_000_000_000_000


def span_id(n: int) -> bytes:
    return n.to_bytes(8, "big")


def value(item: Any) -> AnyValue:
    """An AnyValue of a Python value; None is the empty value."""
    if item is None:
        return AnyValue()
    if isinstance(item, bool):
        return AnyValue(bool_value=item)
    if isinstance(item, list):
        made = AnyValue()
        made.array_value.SetInParent()
        made.array_value.values.extend(value(v) for v in item)
        return made
    if isinstance(item, dict):
        made = AnyValue()
        made.kvlist_value.SetInParent()
        made.kvlist_value.values.extend(attributes(item))
        return made
    kind = {str: "string_value", int: "int_value", float: "double_value", bytes: "bytes_value"}[type(item)]
    return AnyValue(**{kind: item})


def attributes(items: dict[str, Any]) -> list[KeyValue]:
    return [KeyValue(key=key, value=value(item)) for key, item in items.items()]


def span(n: int = 1, values: dict[str, Any] | None = None, **fields: Any) -> Span:
    """A valid span with id `n`; `fields` override."""
    base: dict[str, Any] = {
        "trace_id": TRACE,
        "span_id": span_id(n),
        "name": f"span {n}",
        "kind": 1,
        "start_time_unix_nano": START,
        "end_time_unix_nano": START + n,
    }
    return Span(**{**base, **fields}, attributes=attributes(values or {}))


def log(body: Any = "hello", values: dict[str, Any] | None = None, **fields: Any) -> LogRecord:
    base: dict[str, Any] = {"time_unix_nano": START, "observed_time_unix_nano": START + 5}
    return LogRecord(**{**base, **fields}, body=value(body), attributes=attributes(values or {}))


def traces(
    *spans: Span, resource: dict[str, Any] | None = None, scope: str = "tests", into: Any = None
) -> ExportTraceServiceRequest:
    """A request with these spans under one resource and scope; `into` adds them to another request."""
    request = into if into is not None else ExportTraceServiceRequest()
    group = request.resource_spans.add()
    group.resource.attributes.extend(attributes(resource if resource is not None else {"service.name": "demo"}))
    scoped = group.scope_spans.add()
    scoped.scope.name = scope
    scoped.spans.extend(spans)
    return request


def logs(*records: LogRecord, resource: dict[str, Any] | None = None, scope: str = "tests") -> ExportLogsServiceRequest:
    request = ExportLogsServiceRequest()
    group = request.resource_logs.add()
    group.resource.attributes.extend(attributes(resource if resource is not None else {"service.name": "demo"}))
    scoped = group.scope_logs.add()
    scoped.scope.name = scope
    scoped.log_records.extend(records)
    return request


def as_dict(request: Any) -> Any:
    """OTLP/JSON of a request as Python values."""
    return _with_hex_ids(MessageToDict(request, use_integers_for_enums=True))


def as_json(request: Any) -> bytes:
    return json.dumps(as_dict(request)).encode()


def _with_hex_ids(node: Any) -> Any:
    if isinstance(node, list):
        return [_with_hex_ids(item) for item in node]
    if not isinstance(node, dict):
        return node
    ids = ("traceId", "spanId", "parentSpanId")
    return {k: base64.b64decode(v).hex() if k in ids else _with_hex_ids(v) for k, v in node.items()}


def nested_list(depth: int) -> tuple[bytes, Any]:
    """An AnyValue of lists in lists around a text, as protobuf and as JSON: beyond what the messages can be made of."""
    raw, shown = field(1, b"deep"), {"stringValue": "deep"}
    for _ in range(depth):
        raw, shown = field(5, field(1, raw)), {"arrayValue": {"values": [shown]}}
    return raw, shown


def nested_map(depth: int) -> tuple[bytes, Any]:
    raw, shown = field(1, b"deep"), {"stringValue": "deep"}
    for _ in range(depth):
        raw = field(6, field(1, field(1, b"k") + field(2, raw)))
        shown = {"kvlistValue": {"values": [{"key": "k", "value": shown}]}}
    return raw, shown


def field(number: int, content: bytes) -> bytes:
    """One length-delimited protobuf field."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])
