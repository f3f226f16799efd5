"""Pieces of OTLP/JSON that importers make: ids out of names, times out of texts, spans in the GenAI convention."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

Json = dict[str, Any]
SECOND_NS = 1_000_000_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
_BELOW_MICROSECONDS = re.compile(r"[.,]\d{6}(\d{1,3})")  # datetime drops them, and two lines would be at one time


def id_of(size: int, *parts: object) -> str:
    """An id of `size` bytes in hex that is the same each time the same thing is imported."""
    return hashlib.blake2b("\x00".join(map(str, parts)).encode("utf-8", "replace"), digest_size=size).hexdigest()


def nanoseconds(text: object) -> int:
    """Nanoseconds of a time in RFC 3339; 0 when it is none."""
    try:
        at = datetime.fromisoformat(str(text).replace("Z", "+00:00"))
    except ValueError:
        return 0
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    finer = _BELOW_MICROSECONDS.search(str(text))
    return (at - EPOCH) // MICROSECOND * 1000 + (int(finer[1].ljust(3, "0")) if finer else 0)


def value_of(value: object) -> Json:
    """An OTLP value; maps and lists as JSON text, which is how the convention carries them."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int) and -(1 << 63) <= value < 1 << 63:
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    return {"stringValue": value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}


def attributes_of(values: Json) -> list[Json]:
    """OTLP attributes of a map, without what is absent."""
    return [{"key": key, "value": value_of(value)} for key, value in values.items() if value not in (None, "")]


def span_of(ids: tuple[str, str, str], name: str, times: tuple[int, int], values: Json, error: str = "") -> Json:
    """A span: (trace, span, parent), name, (start, end), attributes; `error` is the text of a failure."""
    trace, span, parent = ids
    status = {"code": 2, "message": error} if error else {}
    return {
        "traceId": trace,
        "spanId": span,
        "parentSpanId": parent,
        "name": name,
        "kind": 1,
        "startTimeUnixNano": str(times[0]),
        "endTimeUnixNano": str(max(times)),
        "attributes": attributes_of(values),
        "status": status,
    }


def event_of(name: object, at_ns: int, values: Json | None) -> Json:
    return {"timeUnixNano": str(at_ns), "name": str(name), "attributes": attributes_of(values or {})}


def request_of(resource: Json, scope: str, spans: list[Json]) -> Json:
    """An export request of spans of one resource and scope."""
    body = {"scope": {"name": scope}, "spans": spans}
    return {"resourceSpans": [{"resource": {"attributes": attributes_of(resource)}, "scopeSpans": [body]}]}


def message(role: str, *parts: Json) -> Json:
    return {"role": role, "parts": list(parts)}


def text_part(text: str) -> Json:
    return {"type": "text", "content": text}


def call_part(call_id: str, tool: str, arguments: object) -> Json:
    return {"type": "tool_call", "id": call_id, "name": tool, "arguments": arguments}


def answer_part(call_id: str, result: object) -> Json:
    return {"type": "tool_call_response", "id": call_id, "response": result}
