"""Stored row → span or log record: the inverse of rows.py, so that a corrected dialect can read them again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from collector.store.otlp_json import of_events_text, of_links_text, of_resource_text, of_scope_text, of_value_text
from semconv.span import LogRecord, Resource, Scope, Span
from semconv.values import Attributes

MAPS = ("attr_string", "attr_int", "attr_double", "attr_bool", "attr_other")
SPAN_COLUMNS = (
    "project", "trace_id", "span_id", "parent_span_id", "trace_state", "trace_flags", "name", "kind", "start_ns",
    "end_ns", "status_code", "status_message", *MAPS, "events", "links", "resource", "scope", "dropped_attributes",
    "dropped_events", "dropped_links",
)  # fmt: skip
LOG_COLUMNS = (
    "project", "time_ns", "observed_ns", "trace_id", "span_id", "trace_flags", "event_name", "severity_number",
    "severity_text", "body", *MAPS, "resource", "scope", "dropped_attributes",
)  # fmt: skip

# One object a resource, however many spans have it: what is found on it is remembered by identity.
_resource = lru_cache(4096)(of_resource_text)
_scope = lru_cache(4096)(of_scope_text)


def span_of(row: Mapping[str, Any]) -> Span:
    """The span a row was made of. Attributes come back in the order of their types; nothing else differs."""
    return Span(
        row["trace_id"], row["span_id"], row["parent_span_id"], row["name"], row["kind"], row["start_ns"],
        row["end_ns"], row["status_code"], row["status_message"], attributes_of([row[name] for name in MAPS]),
        of_events_text(row["events"]), of_links_text(row["links"]),
        resource_of(row["resource"]), scope_of(row["scope"]),
        row["trace_state"], row["trace_flags"], row["dropped_attributes"], row["dropped_events"], row["dropped_links"],
    )  # fmt: skip


def record_of(row: Mapping[str, Any]) -> LogRecord:
    """The log record a row was made of."""
    return LogRecord(
        row["time_ns"], row["observed_ns"], row["trace_id"], row["span_id"], row["event_name"], row["severity_number"],
        row["severity_text"], of_value_text(row["body"]), attributes_of([row[name] for name in MAPS]),
        resource_of(row["resource"]), scope_of(row["scope"]), row["trace_flags"], row["dropped_attributes"],
    )  # fmt: skip


def attributes_of(maps: Sequence[Mapping[str, Any]]) -> Attributes:
    """Attributes out of the five typed maps."""
    strings, ints, doubles, bools, others = maps
    found: Attributes = {**strings, **ints, **doubles, **bools}
    for key, text in others.items():
        found[key] = of_value_text(text)
    return found


def resource_of(text: str) -> Resource:
    return _resource(text)


def scope_of(text: str) -> Scope:
    return _scope(text)
