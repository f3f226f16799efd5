"""OTLP/JSON of attribute values, both ways and exact: what a typed column cannot hold goes through here.

64-bit integers are decimal text, bytes are base64, NaN and infinities are text: OTLP 1.11.0 "JSON Protobuf
Encoding". An empty value is `{}`. Reading what was written gives equal values of equal types.
"""

from __future__ import annotations

import math
from base64 import b64decode, b64encode
from typing import Any

import msgspec

from semconv.span import Event, Link, Resource, Scope
from semconv.values import Attributes, Value

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode
_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def any_value(value: Value) -> dict[str, Any]:
    """The OTLP/JSON object of one value."""
    kind = type(value)
    if kind is str:
        return {"stringValue": value}
    if kind is bool:
        return {"boolValue": value}
    if kind is int:
        return {"intValue": str(value)}
    if kind is float:
        return {"doubleValue": value if math.isfinite(value) else _special_name(value)}
    if value is None:
        return {}
    if kind is bytes:
        return {"bytesValue": b64encode(value).decode()}
    if kind is dict:
        return {"kvlistValue": {"values": key_values(value)}}
    return {"arrayValue": {"values": [any_value(item) for item in value]}}


def of_any_value(json: dict[str, Any]) -> Value:
    """The value of an OTLP/JSON object written by `any_value`."""
    if not json:
        return None
    ((kind, raw),) = json.items()
    if kind == "intValue":
        return int(raw)
    if kind == "doubleValue":
        return _SPECIAL[raw] if isinstance(raw, str) else float(raw)
    if kind == "bytesValue":
        return b64decode(raw)
    if kind == "kvlistValue":
        return of_key_values(raw["values"])
    if kind == "arrayValue":
        return [of_any_value(item) for item in raw["values"]]
    return raw


def key_values(attributes: Attributes) -> list[dict[str, Any]]:
    return [{"key": key, "value": any_value(value)} for key, value in attributes.items()]


def of_key_values(items: list[dict[str, Any]]) -> Attributes:
    return {item["key"]: of_any_value(item["value"]) for item in items}


def value_text(value: Value) -> str:
    """One value as OTLP/JSON text."""
    return _encode(any_value(value)).decode()


def of_value_text(text: str) -> Value:
    return of_any_value(_decode(text))


def resource_text(resource: Resource) -> str:
    body = {"attributes": key_values(resource.attributes)}
    return _encode(
        _with_present(body, schemaUrl=resource.schema_url, droppedAttributesCount=resource.dropped_attributes)
    ).decode()


def scope_text(scope: Scope) -> str:
    """A scope as OTLP/JSON."""
    body = _with_present({}, name=scope.name, version=scope.version)
    if scope.attributes:
        body["attributes"] = key_values(scope.attributes)
    return _encode(
        _with_present(body, schemaUrl=scope.schema_url, droppedAttributesCount=scope.dropped_attributes)
    ).decode()


def of_resource_text(text: str) -> Resource:
    body = _decode(text)
    return Resource(of_key_values(body["attributes"]), body.get("schemaUrl", ""), body.get("droppedAttributesCount", 0))


def of_scope_text(text: str) -> Scope:
    """The scope that `scope_text` wrote."""
    body = _decode(text)
    return Scope(
        body.get("name", ""),
        body.get("version", ""),
        body.get("schemaUrl", ""),
        of_key_values(body.get("attributes", [])),
        body.get("droppedAttributesCount", 0),
    )


def events_text(events: tuple[Event, ...]) -> str:
    """A JSON list of OTLP/JSON events; '' for none."""
    if not events:
        return ""
    return _encode([_event(event) for event in events]).decode()


def of_events_text(text: str) -> tuple[Event, ...]:
    return tuple(
        Event(e["name"], int(e["timeUnixNano"]), of_key_values(e["attributes"]), e.get("droppedAttributesCount", 0))
        for e in (_decode(text) if text else ())
    )


def links_text(links: tuple[Link, ...]) -> str:
    """A JSON list of OTLP/JSON links; '' for none."""
    if not links:
        return ""
    return _encode([_link(link) for link in links]).decode()


def of_links_text(text: str) -> tuple[Link, ...]:
    """The links that `links_text` wrote."""
    return tuple(
        Link(
            link["traceId"],
            link["spanId"],
            link.get("traceState", ""),
            of_key_values(link["attributes"]),
            link.get("droppedAttributesCount", 0),
            link.get("flags", 0),
        )
        for link in (_decode(text) if text else ())
    )


def _text_of(body: dict[str, Any], of: Resource | Scope) -> str:
    return _encode(_with_present(body, schemaUrl=of.schema_url, droppedAttributesCount=of.dropped_attributes)).decode()


def _event(event: Event) -> dict[str, Any]:
    body = {"name": event.name, "timeUnixNano": str(event.time_ns), "attributes": key_values(event.attributes)}
    return _with_present(body, droppedAttributesCount=event.dropped_attributes)


def _link(link: Link) -> dict[str, Any]:
    body = {"traceId": link.trace_id, "spanId": link.span_id, "attributes": key_values(link.attributes)}
    return _with_present(
        body, traceState=link.trace_state, droppedAttributesCount=link.dropped_attributes, flags=link.flags
    )


def _with_present(body: dict[str, Any], **more: object) -> dict[str, Any]:
    body.update({key: value for key, value in more.items() if value})
    return body


def _special_name(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"
