"""Stored rows → OTLP/JSON export requests that can be posted back: the same content, the same rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from collector.store.otlp_json import key_values
from collector.store.spans_of_rows import MAPS, attributes_of

Json = dict[str, Any]
_decode = msgspec.json.Decoder().decode


def traces_of(rows: Iterable[Mapping[str, Any]]) -> Json:
    """An ExportTraceServiceRequest of span rows, by resource and scope in the order they come."""
    return {"resourceSpans": _grouped(rows, "scopeSpans", "spans", _span)}


def logs_of(rows: Iterable[Mapping[str, Any]]) -> Json:
    """An ExportLogsServiceRequest of log rows."""
    return {"resourceLogs": _grouped(rows, "scopeLogs", "logRecords", _record)}


def _grouped(
    rows: Iterable[Mapping[str, Any]], scopes: str, records: str, told: Callable[[Mapping[str, Any]], Json]
) -> list[Json]:
    groups: dict[str, dict[str, list[Json]]] = {}
    for row in rows:
        groups.setdefault(row["resource"], {}).setdefault(row["scope"], []).append(told(row))
    return [
        {
            **_carrier("resource", resource),
            scopes: [{**_carrier("scope", scope), records: told_rows} for scope, told_rows in by_scope.items()],
        }
        for resource, by_scope in groups.items()
    ]


def _carrier(name: str, text: str) -> Json:
    """A resource or scope; its schema stands beside it in OTLP, not in it."""
    body = _decode(text)
    schema = body.pop("schemaUrl", "")
    return {name: body, "schemaUrl": schema} if schema else {name: body}


def _span(row: Mapping[str, Any]) -> Json:
    return {
        "traceId": row["trace_id"],
        "spanId": row["span_id"],
        "parentSpanId": row["parent_span_id"],
        "traceState": row["trace_state"],
        "flags": row["trace_flags"],
        "name": row["name"],
        "kind": row["kind"],
        "startTimeUnixNano": str(row["start_ns"]),
        "endTimeUnixNano": str(row["end_ns"]),
        "attributes": _attributes(row),
        "droppedAttributesCount": row["dropped_attributes"],
        "events": _decode(row["events"]) if row["events"] else [],
        "droppedEventsCount": row["dropped_events"],
        "links": _decode(row["links"]) if row["links"] else [],
        "droppedLinksCount": row["dropped_links"],
        "status": {"code": row["status_code"], "message": row["status_message"]},
    }


def _record(row: Mapping[str, Any]) -> Json:
    return {
        "timeUnixNano": str(row["time_ns"]),
        "observedTimeUnixNano": str(row["observed_ns"]),
        "severityNumber": row["severity_number"],
        "severityText": row["severity_text"],
        "eventName": row["event_name"],
        "body": _decode(row["body"]),
        "attributes": _attributes(row),
        "droppedAttributesCount": row["dropped_attributes"],
        "flags": row["trace_flags"],
        "traceId": row["trace_id"],
        "spanId": row["span_id"],
    }


def _attributes(row: Mapping[str, Any]) -> list[Json]:
    return key_values(attributes_of([row[name] for name in MAPS]))
