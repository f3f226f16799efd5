"""Phoenix's spans: what its REST API gives (`{"data": […], "next_cursor"}`), or its data frame of spans as JSON.

A span has `name`, `span_kind`, `parent_id`, times, `status_code`, `events`, its ids under `context` or as
`context.span_id`, its OpenInference attributes under `attributes` or as `attributes.…`, there with lists and maps
nested. Its kind is beside its attributes; a resource is not exported.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from collector.receive.imports.build import event_of, request_of, span_of
from collector.receive.imports.traces import Misfit, Traces, flat, hex_id, time_ns

Json = dict[str, Any]
KIND = "openinference.span.kind"
CODES = {"OK": 1, "ERROR": 2}


def recognises(value: Json) -> bool:
    """A span."""
    context = value.get("context")
    nested = isinstance(context, dict) and "span_id" in context
    return "span_kind" in value and (nested or "context.span_id" in value)


def recognises_page(value: Json) -> bool:
    data = value.get("data")
    return isinstance(data, list) and bool(data) and isinstance(data[0], dict) and recognises(data[0])


def converted(records: list[Json], name: str, at_ns: int) -> Iterator[Json | Misfit]:
    """One request a trace."""
    del name, at_ns
    traces = Traces(_trace)
    yield from traces.read(((f"span {number}", one) for number, one in enumerate(records, 1)), _group)
    yield from traces.requests()


def converted_page(value: Json) -> Iterator[Json | Misfit]:
    yield from converted(value["data"], "", 0)
    if value.get("next_cursor"):
        yield Misfit("next_cursor: there are more pages, and their spans may be of the same traces: give them too")


def _trace(span: Json) -> str:
    context = span["context"] if "context" in span else {"trace_id": span["context.trace_id"]}
    return hex_id(context["trace_id"], 16, "context.trace_id")


def _group(span: Json) -> Json:
    context = span["context"] if "context" in span else {"span_id": span["context.span_id"]}
    attributes = {KIND: str(span["span_kind"]), **_attributes(span)}
    start = time_ns(span["start_time"], "start_time")
    end = start if span.get("end_time") is None else time_ns(span["end_time"], "end_time")
    parent = span.get("parent_id")
    above = hex_id(parent, 8, "parent_id") if parent else ""
    ids = (_trace(span), hex_id(context["span_id"], 8, "context.span_id"), above)
    made = {
        **span_of(ids, str(span.get("name") or ""), (start, end), attributes),
        "events": [_event(event) for event in span.get("events") or ()],
        "status": {"code": CODES.get(span.get("status_code") or "", 0), "message": span.get("status_message") or ""},
    }
    group: Json = request_of({}, "phoenix", [made])["resourceSpans"][0]
    return group


def _attributes(span: Json) -> Json:
    """Its attributes; in the data frame a column that this span does not have is null."""
    prefix = "attributes."
    columns = {key.removeprefix(prefix): value for key, value in span.items() if key.startswith(prefix)}
    given = span.get("attributes", columns)
    return {name: one for key, value in given.items() if value is not None for name, one in flat(key, value)}


def _event(event: Json) -> Json:
    return event_of(event.get("name"), time_ns(event["timestamp"], "events.timestamp"), event.get("attributes"))
