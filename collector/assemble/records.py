"""What arrived, once each: repeats and older versions of a span are dropped before anything is counted."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from semconv.facts import SpanFacts


def distinct(records: Iterable[SpanFacts]) -> tuple[list[SpanFacts], list[SpanFacts]]:
    """Spans (the newest version of each) and log records (each once, in their emitter's order).

    Of two versions the later received counts; of two received together, the larger content: a rule that does not
    ask which came first over the wire.
    """
    spans: dict[tuple[str, str, str], SpanFacts] = {}
    logs: dict[tuple[int, int, str, str, str], SpanFacts] = {}
    for record in records:
        if record.signal == "log":
            logs.setdefault(log_order(record), record)
            continue
        key = (record.project, record.trace_id, record.span_id)
        known = spans.get(key)
        if known is None or _is_newer(record, known):
            spans[key] = record
    return list(spans.values()), [logs[key] for key in sorted(logs)]


def _is_newer(record: SpanFacts, known: SpanFacts) -> bool:
    if record.received_ns != known.received_ns:
        return record.received_ns > known.received_ns
    if record.content_hash != known.content_hash:
        return record.content_hash > known.content_hash
    return record != known and _content(record) > _content(known)


def log_order(record: SpanFacts) -> tuple[int, int, str, str, str]:
    """Time, the emitter's own sequence, then content: a log record has no id of its own."""
    sequence = record.facts.sequence
    content = record.content_hash or _content(record).hex()
    return (record.start_ns, -1 if sequence is None else sequence, record.trace_id, record.span_id, content)


def _content(record: SpanFacts) -> bytes:
    return msgspec.json.encode(msgspec.structs.replace(record, received_ns=0), order="deterministic")
