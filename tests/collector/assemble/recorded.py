"""Recorded bodies and ready inputs, read by the dialects: facts as assembly gets them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from semconv.facts import SpanFacts
from semconv.resolve import facts_of, facts_of_log
from semconv.span import LogRecord, Resource, Span
from semconv.words import Words
from tests.semconv.recorded import capture, ready_input

WORDS = Words()


def of_spans(spans: Iterable[Span], words: Words = WORDS) -> list[SpanFacts]:
    return [
        SpanFacts(
            signal="span",
            project="default",
            trace_id=span.trace_id,
            span_id=span.span_id,
            parent_span_id=span.parent_span_id,
            name=span.name,
            start_ns=span.start_ns,
            end_ns=span.end_ns,
            facts=facts_of(span, words),
            service=_text(span.resource, "service.name"),
            service_version=_text(span.resource, "service.version"),
            environment=_text(span.resource, "deployment.environment.name"),
            status_code=span.status_code,
            status_message=span.status_message,
        )
        for span in spans
    ]


def of_logs(logs: Iterable[LogRecord], words: Words = WORDS) -> list[SpanFacts]:
    found = []
    for log in logs:
        time_ns = log.time_ns or log.observed_ns
        found.append(
            SpanFacts(
                signal="log",
                project="default",
                trace_id=log.trace_id,
                span_id=log.span_id,
                parent_span_id="",
                name=log.event_name,
                start_ns=time_ns,
                end_ns=time_ns,
                facts=facts_of_log(log, words),
                service=_text(log.resource, "service.name"),
            )
        )
    return found


def _text(resource: Resource, key: str) -> str:
    value = resource.attributes.get(key, "")
    return value if isinstance(value, str) else ""


@cache
def of_capture(name: str) -> tuple[SpanFacts, ...]:
    """The facts of a recorded emitter, all of its bodies as one unit."""
    spans, logs = capture(name)
    return (*of_spans(spans), *of_logs(logs))


def of_case(name: str) -> list[SpanFacts]:
    """The facts of a ready input, all of its requests as one unit."""
    spans, _ = ready_input(name)
    return of_spans(spans)
