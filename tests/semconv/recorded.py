"""Recorded emitter bodies and ready inputs, as spans and log records."""

from __future__ import annotations

import base64
import json
from functools import cache
from pathlib import Path
from typing import Any

from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.normalise.unpack import logs_of, spans_of
from semconv.span import LogRecord, Span

TESTS = Path(__file__).parent.parent
CAPTURES = sorted(path.parent.name for path in (TESTS / "captures").glob("*/meta.json"))


def _with_base64_ids(node: Any) -> Any:
    """OTLP/JSON writes ids in hex, where the stock protobuf reader wants base64."""
    if isinstance(node, list):
        return [_with_base64_ids(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: base64.b64encode(bytes.fromhex(value)).decode()
        if key in ("traceId", "spanId", "parentSpanId") and isinstance(value, str)
        else _with_base64_ids(value)
        for key, value in node.items()
    }


def payload_of(body: dict[str, Any]) -> bytes:
    """The protobuf form of an OTLP/JSON body."""
    request = ExportTraceServiceRequest() if "resourceSpans" in body else ExportLogsServiceRequest()
    return json_format.ParseDict(_with_base64_ids(body), request, ignore_unknown_fields=True).SerializeToString()


@cache
def capture(name: str) -> tuple[tuple[Span, ...], tuple[LogRecord, ...]]:
    """All spans and log records of a capture, in the order received."""
    spans: list[Span] = []
    logs: list[LogRecord] = []
    for file in sorted((TESTS / "captures" / name).glob("[0-9]*_*")):
        if file.name.endswith(".meta.json") or not ("_traces." in file.name or "_logs." in file.name):
            continue
        payload = file.read_bytes()
        if file.suffix == ".json":
            payload = payload_of(json.loads(payload))
        if "_traces." in file.name:
            spans.extend(spans_of(payload))
        else:
            logs.extend(logs_of(payload))
    return tuple(spans), tuple(logs)


@cache
def meta(name: str) -> dict[str, Any]:
    """What a capture must give, and what its emitter lets one recover."""
    found: dict[str, Any] = json.loads((TESTS / "captures" / name / "meta.json").read_text())
    return found


def ready_input(name: str) -> tuple[list[Span], dict[str, Any]]:
    """The spans of a ready input and what is expected of it."""
    (file,) = (TESTS / "cases").glob(f"**/{name}_*.json")
    case = json.loads(file.read_text())
    spans = [span for request in case["requests"] for span in spans_of(payload_of(request["body"]))]
    return spans, case["expected"]
