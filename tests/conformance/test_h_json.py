"""OTLP/JSON: items 86 to 96."""

from __future__ import annotations

import base64
import json
import math
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.metrics import Metrics
from collector.receive.otlp import Receiver
from collector.spool import Spool
from tests.collector.receive.build import START, as_dict, as_json, attributes, span, span_id, traces
from tests.conformance.conftest import Target
from tests.conformance.wires import Wire


@pytest.fixture
def wire(target: Target) -> Iterator[Wire]:
    made = Wire("http json", target.http, target.grpc)
    yield made
    made.close()


def body(target: Target, **fields: Any) -> Any:
    ids = {"traceId": target.trace_id.hex(), "spanId": span_id(1).hex(), "name": "span 1"}
    return {"resourceSpans": [{"scopeSpans": [{"spans": [{**ids, **fields}]}]}]}


def sent(wire: Wire, target: Target, root: Any) -> Any:
    """Sends a JSON request, which must be accepted; the last span stored, None when that is unknown."""
    reply = wire.send_bytes(root if isinstance(root, bytes) else json.dumps(root).encode())
    assert (reply.code, reply.rejected) == ("OK", 0)
    return target.spans()[-1] if target.own is not None else None


def refused(wire: Wire, root: Any) -> None:
    assert wire.send_bytes(root if isinstance(root, bytes) else json.dumps(root).encode()).code == "INVALID_ARGUMENT"


@pytest.mark.item(86)
def test_ids_are_hex_in_either_case(wire: Wire, target: Target) -> None:
    lower, upper = target.trace_id.hex(), target.trace_id.hex().upper()
    mixed = "".join(pair for a, b in zip(lower[::2], upper[1::2], strict=True) for pair in (a, b))
    for text in (lower, upper, mixed):
        link = {"traceId": text, "spanId": "AbCdEf0123456789"}
        stored = sent(wire, target, body(target, traceId=text, parentSpanId="FFFFFFFFFFFFFFFF", links=[link]))
        if stored is not None:
            assert (stored.trace_id, stored.parent_span_id) == (lower, "f" * 16)
            assert (stored.links[0].trace_id, stored.links[0].span_id) == (lower, "abcdef0123456789")


@pytest.mark.item(86)
def test_base64_ids_are_refused_and_named(wire: Wire, target: Target) -> None:
    text = base64.b64encode(target.trace_id).decode()
    reply = wire.send_bytes(json.dumps(body(target, traceId=text)).encode())
    assert reply.code == "INVALID_ARGUMENT"
    assert "traceId" in reply.message
    refused(wire, body(target, spanId=base64.b64encode(span_id(1)).decode()))
    target.stored("traces")


@pytest.mark.item(87)
def test_enums_are_integers(wire: Wire, target: Target) -> None:
    refused(wire, body(target, kind="SPAN_KIND_SERVER"))
    refused(wire, body(target, status={"code": "STATUS_CODE_ERROR"}))
    stored = sent(wire, target, body(target, kind=2))
    assert stored is None or stored.kind == 2


@pytest.mark.item(88)
@pytest.mark.parametrize("extra", [1, "x", None, {"deep": [[{}]]}, [[[[1]]]]])
def test_unknown_keys(wire: Wire, target: Target, extra: Any) -> None:
    def sprinkle(node: Any) -> Any:
        if isinstance(node, list):
            return [sprinkle(item) for item in node]
        return {"newKey": extra, **{k: sprinkle(v) for k, v in node.items()}} if isinstance(node, dict) else node

    request = traces(span(1, {"k": {"m": [1]}}, trace_id=target.trace_id))
    request.resource_spans[0].scope_spans[0].spans[0].events.add(name="e")
    stored = sent(wire, target, sprinkle(as_dict(request)))
    assert stored is None or (stored.attributes, stored.events[0].name) == ({"k": {"m": [1]}}, "e")


@pytest.mark.item(89)
def test_snake_case_keys_are_unknown(wire: Wire, target: Target) -> None:
    root = {"resource_spans": body(target)["resourceSpans"]}
    reply = wire.send_bytes(json.dumps(root).encode())
    assert (reply.code, reply.rejected) == ("OK", 0)
    target.stored("traces")
    if target.own is not None:
        assert target.own.count("refused", signal="traces", reason="unknown_keys") >= 1
    stored = sent(wire, target, body(target, start_time_unix_nano="5"))
    assert stored is None or stored.start_ns == 0


@pytest.mark.item(90)
def test_integers_as_text_and_as_number(wire: Wire, target: Target) -> None:
    for form in (1_700_000_000_000_000_001, "1700000000000000001"):
        stored = sent(wire, target, body(target, startTimeUnixNano=form))
        assert stored is None or stored.start_ns == 1_700_000_000_000_000_001
    for form in (2**53 + 1, str(2**53 + 1)):
        stored = sent(wire, target, body(target, attributes=[{"key": "i", "value": {"intValue": form}}]))
        assert stored is None or stored.attributes == {"i": 2**53 + 1}


@pytest.mark.item(91)
@pytest.mark.parametrize("form", [1.5, "1.5", 1.5e18, "1e18", -1, "-1", 2**64, str(2**64), {"low": 1}, True, ""])
def test_times_that_are_no_unsigned_integers(wire: Wire, target: Target, form: Any) -> None:
    refused(wire, body(target, endTimeUnixNano=form))
    target.stored("traces")


@pytest.mark.item(91)
def test_an_oversized_attribute_costs_a_mark(wire: Wire, target: Target) -> None:
    stored = sent(wire, target, body(target, attributes=[{"key": "i", "value": {"intValue": str(2**63)}}]))
    assert stored is None or stored.attributes["i"] == str(2**63)


@pytest.mark.item(92)
@pytest.mark.parametrize("text", ["AAH/+w==", "AAH/+w", "AAH_-w==", "AAH_-w"])
def test_base64(wire: Wire, target: Target, text: str) -> None:
    stored = sent(wire, target, body(target, attributes=[{"key": "b", "value": {"bytesValue": text}}]))
    assert stored is None or stored.attributes == {"b": b"\x00\x01\xff\xfb"}


@pytest.mark.item(93)
def test_doubles(wire: Wire, target: Target) -> None:
    for form, expected in ((0.5, 0.5), (3, 3.0), ("Infinity", math.inf), ("-Infinity", -math.inf)):
        stored = sent(wire, target, body(target, attributes=[{"key": "d", "value": {"doubleValue": form}}]))
        assert stored is None or stored.attributes == {"d": expected}
    stored = sent(wire, target, body(target, attributes=[{"key": "d", "value": {"doubleValue": "NaN"}}]))
    assert stored is None or math.isnan(stored.attributes["d"])
    for bare in (math.nan, math.inf):  # Python's encoder writes them as no other JSON parser reads them
        refused(wire, body(target, attributes=[{"key": "d", "value": {"doubleValue": bare}}]))


@pytest.mark.item(94)
def test_null_is_absent(wire: Wire, target: Target) -> None:
    names = ("parentSpanId", "traceState", "flags", "kind", "events", "links", "status", "attributes")
    root = body(target, **dict.fromkeys(names), startTimeUnixNano=None, droppedAttributesCount=None)
    root["resourceSpans"][0].update(resource=None, schemaUrl=None)
    root["resourceSpans"][0]["scopeSpans"][0].update(scope=None, schemaUrl=None)
    stored = sent(wire, target, root)
    assert stored is None or (stored.parent_span_id, stored.attributes, stored.kind) == ("", {}, 0)
    sent(wire, target, {"resourceSpans": None})


@pytest.mark.item(95)
def test_duplicate_keys_and_a_byte_order_mark(wire: Wire, target: Target) -> None:
    text = json.dumps(body(target)).replace('"name"', '"name":"first","name"')
    stored = sent(wire, target, text.encode())
    assert stored is None or stored.name == "span 1"
    stored = sent(wire, target, b"\xef\xbb\xbf" + text.encode())
    assert stored is None or stored.name == "span 1"


def anything(chance: random.Random, depth: int = 0) -> Any:
    """A value of any kind."""
    kinds: list[Callable[[], Any]] = [
        lambda: text(chance),
        lambda: chance.randint(-(2**63), 2**63 - 1),
        lambda: chance.choice([0, 1, -1, 2**53 + 1, 2**63 - 1, -(2**63)]),
        lambda: chance.choice([True, False, None]),
        lambda: chance.randbytes(chance.randint(0, 9)),
        lambda: chance.choice([0.0, -0.0, 0.1, 1e300, 5e-324, math.inf, -math.inf, chance.random()]),
    ]
    if depth < 4:
        kinds.append(lambda: [anything(chance, depth + 1) for _ in range(chance.randint(0, 3))])
        kinds.append(lambda: some(chance, depth + 1))
    return chance.choice(kinds)()


def some(chance: random.Random, depth: int = 0) -> dict[str, Any]:
    return {text(chance): anything(chance, depth) for _ in range(chance.randint(0, 4))}


def text(chance: random.Random) -> str:
    ranges = ((0, 0x7F), (0x80, 0xD7FF), (0xE000, 0xFFFF), (0x10000, 0x10FFFF))
    return "".join(chr(chance.randint(*chance.choice(ranges))) for _ in range(chance.randint(0, 12)))


def any_request(chance: random.Random) -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest()
    for _ in range(chance.randint(1, 2)):
        spans = []
        for n in range(chance.randint(1, 3)):
            numbers = {name: chance.choice([0, 1, 2**32 - 1]) for name in ("flags", "dropped_attributes_count")}
            times = {
                name: chance.choice([0, START, 2**64 - 1]) for name in ("start_time_unix_nano", "end_time_unix_nano")
            }
            one = span(n + 1, some(chance), name=text(chance), kind=chance.randint(0, 7), **numbers, **times)
            if chance.random() < 0.5:
                one.status.code, one.status.message, one.trace_state = chance.randint(0, 2), text(chance), text(chance)
            for _ in range(chance.randint(0, 2)):
                one.events.add(name=text(chance)).attributes.extend(attributes(some(chance)))
                link = one.links.add(trace_id=chance.randbytes(15) + b"x", span_id=span_id(n + 1))
                link.attributes.extend(attributes(some(chance)))
            spans.append(one)
        traces(*spans, resource=some(chance), scope=text(chance), into=request)
        request.resource_spans[-1].schema_url = text(chance)
    return request


@pytest.mark.item(96)
@pytest.mark.own
def test_a_thousand_requests_in_three_encodings_store_the_same(tmp_path: Path) -> None:
    chance = random.Random(96)
    spool = Spool(tmp_path, durability="os", min_free_bytes=0)
    try:
        receiver = Receiver(spool, Metrics())
        for _ in range(1000):
            request, before = any_request(chance), spool.stats().newest_seq
            raw = request.SerializeToString()
            assert receiver.handle("traces", "protobuf", raw, transport="grpc").body == b""
            assert receiver.handle("traces", "protobuf", raw).body == b""
            assert receiver.handle("traces", "json", as_json(request)).body == b"{}"
            first, second, third = spool.read(before, max_entries=10, max_bytes=1 << 30)
            assert first.payload == second.payload == raw
            assert ExportTraceServiceRequest.FromString(third.payload) == request
    finally:
        spool.close()


@pytest.mark.item(96)
def test_three_wires_store_the_same(target: Target) -> None:
    stored = []
    for kind in ("grpc", "http protobuf", "http json"):
        made = Wire(kind, target.http, target.grpc)
        one = span(1, {"v": [1, None, {"b": b"\xff"}], "t": "ä"}, trace_id=target.trace_id, start_time_unix_nano=START)
        assert made.send(traces(one)).code == "OK"
        made.close()
        if target.own is not None:
            stored.append(target.spans()[-1])
    assert stored == [] or stored[0] == stored[1] == stored[2]
