"""Langfuse's traces: a trace with its `observations` (the page's download, `GET /api/public/traces/…`), or observations
alone (`GET /api/public/observations`, its export of observations as JSON or JSON lines).

Names are those of the public API (`parentObservationId`, `startTime`, `usageDetails`); they become the attributes that
Langfuse's SDK sends, so live telemetry and a file are read by the same dialect. Scores are not imported.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from collector.receive.imports.build import id_of, request_of, span_of
from collector.receive.imports.traces import Misfit, Traces, time_ns

Json = dict[str, Any]
PREFIX = "langfuse.observation"
HEX = set("0123456789abcdef")


def recognises(value: Json) -> bool:
    """An observation."""
    return "traceId" in value and "startTime" in value and "type" in value


def recognises_trace(value: Json) -> bool:
    return isinstance(value.get("observations"), list) and ("id" in value or isinstance(value.get("trace"), dict))


def recognises_page(value: Json) -> bool:
    data = value.get("data")
    return isinstance(data, list) and bool(data) and isinstance(data[0], dict) and recognises(data[0])


def converted(records: list[Json], name: str, at_ns: int) -> Iterator[Json | Misfit]:
    """One request a trace."""
    del name, at_ns
    yield from _requests([(f"observation {number}", one) for number, one in enumerate(records, 1)], {})


def converted_page(value: Json) -> Iterator[Json | Misfit]:
    yield from _requests([(f"data[{number}]", one) for number, one in enumerate(value["data"])], {})
    meta = value.get("meta") or {}
    if meta.get("cursor") or (meta.get("totalPages") or 1) > 1:
        yield Misfit("meta: there are more pages, and their observations may be of the same traces: give them too")


def converted_trace(value: Json) -> Iterator[Json | Misfit]:
    trace = value["trace"] if isinstance(value.get("trace"), dict) else value
    found = [(f"observations[{number}]", one) for number, one in enumerate(value["observations"])]
    yield from _requests(found, trace)


def _requests(records: list[tuple[str, Any]], trace: Json) -> Iterator[Json | Misfit]:
    def group(observation: Json) -> Json:
        about = {key: observation.get(key) or trace.get(key) for key in ("sessionId", "environment", "release")}
        resource = {
            "service.version": about["release"],
            "deployment.environment.name": about["environment"] if about["environment"] != "default" else None,
        }
        span = _span(observation, _trace(observation), about["sessionId"])
        made: Json = request_of(resource, "langfuse", [span])["resourceSpans"][0]
        return made

    def _trace(observation: Json) -> str:
        return _id(observation.get("traceId") or trace["id"], 16)

    traces = Traces(_trace)
    yield from traces.read(records, group)
    yield from traces.requests()


def _span(observation: Json, trace_id: str, session: object) -> Json:
    start = time_ns(observation["startTime"], "startTime")
    end = observation.get("endTime")
    parent = observation.get("parentObservationId")
    ids = (trace_id, _id(observation["id"], 8), _id(parent, 8) if parent else "")
    times = (start, time_ns(end, "endTime") if end else start)
    code = 2 if observation.get("level") == "ERROR" else 0
    return {
        **span_of(ids, str(observation.get("name") or ""), times, {**_attributes(observation), "session.id": session}),
        "status": {"code": code, "message": observation.get("statusMessage") or ""},
    }


def _attributes(observation: Json) -> Json:
    metadata = observation.get("metadata")
    told = {
        "type": str(observation["type"]).lower(),
        "input": _text(observation.get("input")),
        "output": _text(observation.get("output")),
        "level": observation.get("level"),
        "status_message": observation.get("statusMessage"),
        "model.name": observation.get("model"),
        "model.parameters": observation.get("modelParameters"),
        "usage_details": observation.get("usageDetails") or observation.get("usage"),
        "cost_details": observation.get("costDetails"),
    }
    found = {f"{PREFIX}.{name}": value for name, value in told.items()}
    for key, value in metadata.items() if isinstance(metadata, dict) else ():
        found[f"{PREFIX}.metadata.{key}"] = value
    return found


def _text(value: object) -> object:
    """A value as the SDK sends it: text as it is, anything else as JSON."""
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _id(value: object, size: int) -> str:
    """Ids of SDK 3 and later are OpenTelemetry's; older ones are texts of any form."""
    text = str(value or "")
    if not text:
        raise ValueError("an id is missing")
    return text if len(text) == 2 * size and set(text) <= HEX else id_of(size, "langfuse", text)
