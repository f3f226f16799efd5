"""Spans and log records for tests, with only what a test is about spelled out."""

from __future__ import annotations

from typing import Any

from semconv.span import Event, LogRecord, Resource, Scope, Span

TRACE = "0af7651916cd43dd8448eb211c80319c"


def event(name: str, /, **attributes: Any) -> Event:
    return Event(name, 1_500, {key.replace("__", "."): value for key, value in attributes.items()})


def span(attributes: dict[str, Any] | None = None, /, **given: Any) -> Span:
    """A span of scope `lib`; `scope`, `resource` and `status` may be given as their plain values."""
    code, message = given.pop("status", (0, ""))
    scope, resource = given.pop("scope", "lib"), given.pop("resource", {})
    values: dict[str, Any] = {
        "trace_id": TRACE,
        "span_id": "b7ad6b7169203331",
        "parent_span_id": "00f067aa0ba902b7",
        "name": "step",
        "kind": 1,
        "start_ns": 1_000,
        "end_ns": 2_000,
        "status_code": code,
        "status_message": message,
        "events": (),
        "links": (),
        "resource": Resource(resource),
        "scope": Scope(scope),
    }
    return Span(**{**values, **given}, attributes=attributes or {})


def log(attributes: dict[str, Any] | None = None, /, **given: Any) -> LogRecord:
    """A log record of scope `lib` without a trace."""
    scope, resource = given.pop("scope", "lib"), given.pop("resource", {})
    values: dict[str, Any] = {
        "time_ns": 5_000,
        "observed_ns": 6_000,
        "trace_id": "",
        "span_id": "",
        "event_name": "",
        "severity_number": 9,
        "severity_text": "INFO",
        "body": None,
        "resource": Resource(resource),
        "scope": Scope(scope),
    }
    return LogRecord(**{**values, **given}, attributes=attributes or {})
