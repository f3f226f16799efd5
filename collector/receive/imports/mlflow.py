"""MLflow 3's traces: `Trace.to_json()` (`{"info": …, "data": {"spans": […]}}`), and rows of `search_traces()`, which
hold that as text under `trace`. Ids are base64, attributes are JSON text, as its OTLP exporter sends them."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator
from typing import Any

from collector.receive.imports.build import event_of, request_of, span_of
from collector.receive.imports.traces import Misfit, Traces, hex_id, time_ns

Json = dict[str, Any]
CODES = {"STATUS_CODE_OK": 1, "STATUS_CODE_ERROR": 2}
SESSION = "mlflow.trace.session"
SOURCE = "mlflow.source.name"


def recognises(value: Json) -> bool:
    data = value.get("data")
    return (isinstance(value.get("info"), dict) and isinstance(data, dict) and "spans" in data) or _is_row(value)


def _is_row(value: Json) -> bool:
    text = value.get("trace")
    return isinstance(text, str) and text[:1] == "{" and '"spans"' in text


def converted(value: Json) -> Iterator[Json | Misfit]:
    """One request a trace."""
    trace = json.loads(value["trace"]) if _is_row(value) else value
    metadata = trace["info"].get("trace_metadata") or {}
    resource = {"service.name": str(metadata.get(SOURCE) or "").replace("\\", "/").rpartition("/")[2]}
    session = {SESSION: metadata[SESSION]} if SESSION in metadata else {}

    def group(span: Json) -> Json:
        made: Json = request_of(resource, "mlflow", [_span(span, session)])["resourceSpans"][0]
        return made

    traces = Traces(_trace)
    spans = trace["data"]["spans"]
    yield from traces.read(((f"data.spans[{number}]", span) for number, span in enumerate(spans)), group)
    yield from traces.requests()


def _span(span: Json, session: Json) -> Json:
    parent = span.get("parent_span_id")
    ids = (_trace(span), _id(span["span_id"], 8, "span_id"), _id(parent, 8, "parent_span_id") if parent else "")
    start = time_ns(span["start_time_unix_nano"], "start_time_unix_nano")
    end = span.get("end_time_unix_nano")  # none where a span never ended
    times = (start, time_ns(end, "end_time_unix_nano") if end else start)
    status = span.get("status") or {}
    return {
        **span_of(ids, str(span.get("name") or ""), times, {**session, **span["attributes"]}),
        "events": [_event(event) for event in span.get("events") or ()],
        "status": {"code": CODES.get(status.get("code") or "", 0), "message": status.get("message") or ""},
    }


def _event(event: Json) -> Json:
    return event_of(
        event.get("name"), time_ns(event["time_unix_nano"], "events.time_unix_nano"), event.get("attributes")
    )


def _trace(span: Json) -> str:
    return _id(span["trace_id"], 16, "trace_id")


def _id(value: object, size: int, name: str) -> str:
    """An id in hex, from base64. Raises ValueError."""
    try:
        return hex_id(base64.b64decode(str(value), validate=True).hex(), size, name)
    except binascii.Error:
        return hex_id(value, size, name)
