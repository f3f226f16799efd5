"""Jaeger's JSON (what its API and its page's download give): `{"data": [{traceID, spans, processes}]}`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from collector.receive.imports.build import attributes_of, value_of

Json = dict[str, Any]
SCOPE = ("otel.scope.name", "otel.library.name")
VERSION = ("otel.scope.version", "otel.library.version")
KINDS = {"internal": 1, "server": 2, "client": 3, "producer": 4, "consumer": 5}
CODES = {"OK": 1, "ERROR": 2}
OURS = {*SCOPE, *VERSION, "span.kind", "otel.status_code", "otel.status_description", "w3c.tracestate"}


def recognises(value: Json) -> bool:
    data = value.get("data")
    return isinstance(data, list) and bool(data) and isinstance(data[0], dict) and "traceID" in data[0]


def converted(value: Json) -> Iterator[Json]:
    """One request a trace."""
    for trace in value["data"]:
        processes = trace.get("processes") or {}
        groups = [_group(span, processes) for span in trace.get("spans") or ()]
        yield {"resourceSpans": groups}


def _group(span: Json, processes: Json) -> Json:
    process = span.get("process") or processes.get(str(span.get("processID"))) or {}
    resource = [{"key": "service.name", "value": value_of(process.get("serviceName") or "")}]
    resource += [_attribute(tag) for tag in process.get("tags") or ()]
    tags = {tag.get("key"): tag.get("value") for tag in span.get("tags") or ()}
    scope = {"name": _first(tags, SCOPE), "version": _first(tags, VERSION)}
    return {"resource": {"attributes": resource}, "scopeSpans": [{"scope": scope, "spans": [_span(span, tags)]}]}


def _span(span: Json, tags: Json) -> Json:
    start_ns = int(span.get("startTime") or 0) * 1000
    parents = [r for r in span.get("references") or () if r.get("refType") == "CHILD_OF"]
    code = CODES.get(str(tags.get("otel.status_code")), 2 if tags.get("error") in (True, "true") else 0)
    return {
        "traceId": str(span.get("traceID", "")).rjust(32, "0"),
        "spanId": str(span.get("spanID", "")).rjust(16, "0"),
        "parentSpanId": str(parents[0]["spanID"]).rjust(16, "0") if parents else "",
        "traceState": tags.get("w3c.tracestate") or "",
        "name": span.get("operationName", ""),
        "kind": KINDS.get(str(tags.get("span.kind")), 1),
        "startTimeUnixNano": str(start_ns),
        "endTimeUnixNano": str(start_ns + int(span.get("duration") or 0) * 1000),
        "attributes": [_attribute(tag) for tag in span.get("tags") or () if tag.get("key") not in OURS],
        "events": [_event(log) for log in span.get("logs") or ()],
        "status": {"code": code, "message": tags.get("otel.status_description") or ""},
    }


def _event(log: Json) -> Json:
    fields = {field.get("key"): field.get("value") for field in log.get("fields") or ()}
    name = fields.pop("event", "") or "log"
    at = str(int(log.get("timestamp") or 0) * 1000)
    return {"timeUnixNano": at, "name": str(name), "attributes": attributes_of(fields)}


def _attribute(tag: Json) -> Json:
    """A tag; Jaeger says what type it was."""
    value, kind = tag.get("value"), tag.get("type")
    if kind == "int64":
        return {"key": tag.get("key"), "value": {"intValue": str(value)}}
    if kind == "float64":
        return {"key": tag.get("key"), "value": {"doubleValue": float(value or 0)}}
    return {"key": tag.get("key"), "value": value_of(value)}


def _first(tags: Json, names: tuple[str, ...]) -> str:
    return next((str(tags[name]) for name in names if tags.get(name)), "")
