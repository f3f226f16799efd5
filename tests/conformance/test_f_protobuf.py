"""Decoding rules for spans, over every wire: items 61 to 79."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from tests.collector.receive.build import START, as_dict, field, log, logs, span, span_id, traces, varint
from tests.conformance.conftest import Target
from tests.conformance.wires import Signal, Wire

VALUES = {
    "text": "a\x00b 😀",
    "empty text": "",
    "true": True,
    "false": False,
    "int": 7,
    "max": 2**63 - 1,
    "min": -(2**63),
    "double": 0.1,
    "inf": math.inf,
    "bytes": b"\x00\xff",
    "empty": None,
    "list": [1, "x", True, None, 0.5, b"\xfe", [], [["deep"]]],
    "map": {"a": {"b": [{"c": None}]}, "": "empty key"},
    "": "empty key",
}


def sent(wire: Wire, target: Target, **fields: Any) -> Any:
    """Sends one span, which must be accepted; the span as stored, None when that is unknown."""
    one = span(1, trace_id=target.trace_id, **fields)
    return sent_request(wire, target, traces(one))


def sent_request(wire: Wire, target: Target, request: Any) -> Any:
    reply = wire.send(request)
    assert (reply.code, reply.rejected, reply.message) == ("OK", 0, "")
    return target.spans()[-1] if target.own is not None else None


@pytest.mark.item(61)
@pytest.mark.parametrize("wire", ["grpc", "http protobuf"], indirect=True)
def test_unknown_fields_at_every_level(target: Target, wire: Wire) -> None:
    extra = varint(999 << 3 | 2) + b"\x03new" + varint(998 << 3) + b"\x01"

    def message(*parts: bytes) -> bytes:
        return b"".join(parts) + extra

    attribute = message(field(1, b"k"), field(2, message(field(1, b"v"))))
    event = message(field(2, b"event"), field(3, attribute))
    link = message(field(1, target.trace_id), field(2, span_id(9)))
    one = message(
        field(1, target.trace_id), field(2, span_id(1)), field(5, b"span 1"), field(9, attribute), field(11, event)
    )
    one += field(13, link)
    body = message(
        field(1, message(field(1, message(field(1, attribute))), field(2, message(field(1, extra), field(2, one)))))
    )
    assert wire.send_bytes(body).code == "OK"
    target.stored("traces", 1)


@pytest.mark.item(62)
@pytest.mark.parametrize("length", [0, 8, 15, 17])
def test_id_lengths(target: Target, wire: Wire, length: int) -> None:
    request = target.request("traces", 1, 2, 3)
    spans = request.resource_spans[0].scope_spans[0].spans
    spans[0].trace_id = b"\1" * length
    spans[1].span_id = b"\1" * (length // 2)
    reply = wire.send(request)
    expected = [3] if length != 17 else [2, 3]
    assert (reply.code, reply.rejected) == ("OK", 3 - len(expected))
    target.stored("traces", *expected)


@pytest.mark.item(62)
def test_ids_of_zeros(target: Target, wire: Wire) -> None:
    request = target.request("traces", 1, 2, 3)
    spans = request.resource_spans[0].scope_spans[0].spans
    spans[0].trace_id, spans[1].span_id = bytes(16), bytes(8)
    assert wire.send(request).rejected == 2
    target.stored("traces", 3)


@pytest.mark.item(63)
def test_parents(target: Target, wire: Wire) -> None:
    for parent, kept in ((b"", ""), (bytes(8), ""), (span_id(5), span_id(5).hex())):
        stored = sent(wire, target, parent_span_id=parent)
        assert stored is None or stored.parent_span_id == kept
    reply = wire.send(target.request("traces", 1, parent_span_id=b"\1" * 5))
    assert reply.code == "OK"
    if target.own is not None:
        assert target.spans()[-1].parent_span_id == ""
        assert "parentSpanId" in target.spans()[-1].attributes["passhat.repaired"][0]


@pytest.mark.item(64, 65, 66, 67)
def test_flags_kinds_and_names(target: Target, wire: Wire) -> None:
    for flags in (0xFFFFFFFF, 0x301, 0):
        stored = sent(wire, target, flags=flags)
        assert stored is None or stored.flags == flags
    for kind in (0, 5, 42, 2**31 - 1):
        stored = sent(wire, target, kind=kind)
        assert stored is None or stored.kind == kind
    stored = sent(wire, target, name="")
    assert stored is None or stored.name == ""


@pytest.mark.item(68)
def test_statuses(target: Target, wire: Wire) -> None:
    stored = sent(wire, target)
    assert stored is None or (stored.status_code, stored.status_message) == (0, "")
    for code in (0, 1, 2, 9):
        stored = sent(wire, target, status={"code": code, "message": "why"})
        assert stored is None or (stored.status_code, stored.status_message) == (code, "why")


@pytest.mark.item(69)
def test_no_resource_and_no_scope(target: Target, wire: Wire) -> None:
    request = traces()
    request.Clear()
    request.resource_spans.add().scope_spans.add().spans.append(span(1, trace_id=target.trace_id))
    stored = sent_request(wire, target, request)
    assert stored is None or (stored.resource.attributes, stored.scope.name) == ({}, "")


@pytest.mark.item(70)
def test_duplicate_attribute_keys(target: Target, wire: Wire) -> None:
    one = span(1, {"n": "first"}, trace_id=target.trace_id)
    one.attributes.add(key="n").value.int_value = 2
    stored = sent_request(wire, target, traces(one))
    assert stored is None or stored.attributes == {"n": 2}


@pytest.mark.item(71, 72, 76)
def test_values_of_every_kind(target: Target, wire: Wire) -> None:
    one = span(1, VALUES, trace_id=target.trace_id)
    one.events.add(name="e").attributes.extend(one.attributes)
    one.links.add(trace_id=target.trace_id, span_id=span_id(3)).attributes.extend(one.attributes)
    stored = sent_request(wire, target, traces(one, resource=VALUES))
    if stored is not None:
        for found in (stored, stored.events[0], stored.links[0], stored.resource):
            assert found.attributes == VALUES
            assert type(found.attributes["true"]) is bool


@pytest.mark.item(76)
def test_nan(target: Target, wire: Wire) -> None:
    stored = sent_request(wire, target, traces(span(1, {"nan": math.nan}, trace_id=target.trace_id)))
    assert stored is None or math.isnan(stored.attributes["nan"])


@pytest.mark.item(73)
def test_string_table_indices_are_absent(target: Target, wire: Wire) -> None:
    one = span(1, {"good": 1}, trace_id=target.trace_id)
    one.attributes.add(key="k").value.string_value_strindex = 4
    one.attributes.add(key_strindex=3).value.string_value = "v"
    stored = sent_request(wire, target, traces(one))
    if stored is not None:
        assert stored.attributes["good"] == 1
        assert stored.attributes.get("k") is None


@pytest.mark.item(74, 75)
def test_dropped_counts_and_schema_urls(target: Target, wire: Wire) -> None:
    one = span(1, trace_id=target.trace_id, dropped_attributes_count=1, dropped_events_count=2, dropped_links_count=3)
    one.events.add(name="e", dropped_attributes_count=2**32 - 1)
    request = traces(one)
    group = request.resource_spans[0]
    group.schema_url, group.scope_spans[0].schema_url = "https://a/1.40.0", "https://b/1.41.0"
    group.resource.dropped_attributes_count = 4
    stored = sent_request(wire, target, request)
    if stored is not None:
        assert (stored.dropped_attributes, stored.dropped_events, stored.dropped_links) == (1, 2, 3)
        assert (stored.events[0].dropped_attributes, stored.resource.dropped_attributes) == (2**32 - 1, 4)
        assert (stored.resource.schema_url, stored.scope.schema_url) == ("https://a/1.40.0", "https://b/1.41.0")


@pytest.mark.item(77)
def test_absurd_times(target: Target, wire: Wire) -> None:
    for start, end in ((0, 0), (1, 2**63), (2**64 - 1, 2**64 - 1), (START, START - 1), (START * 5, START * 6)):
        one = span(1, trace_id=target.trace_id, start_time_unix_nano=start, end_time_unix_nano=end)
        one.events.add(name="e", time_unix_nano=end)
        stored = sent_request(wire, target, traces(one))
        assert stored is None or (stored.start_ns, stored.end_ns, stored.events[0].time_ns) == (start, end, end)


@pytest.mark.item(78)
def test_odd_text_is_kept(target: Target, wire: Wire) -> None:
    text = "NUL \x00, 4 bytes 😀, overline a\u0305, right to left \u202e, newline \n, \x7f, \ufffe"
    stored = sent_request(wire, target, traces(span(1, {text: text}, trace_id=target.trace_id, name=text)))
    assert stored is None or (stored.name, stored.attributes) == (text, {text: text})


@pytest.mark.item(78)
def test_text_that_is_none_costs_its_value_only(target: Target, wire: Wire) -> None:
    request = target.request("traces", 1, 2)
    request.resource_spans[0].scope_spans[0].spans[1].attributes.add(key="k").value.string_value = "xBADy"
    forms = {"http json": [b'x\\ud800y"', b'x\xffy"']}.get(wire.kind, [b"x\xffzzy"])
    body = wire.encode(request)
    for form in forms:
        reply = wire.send_bytes(body.replace(b'xBADy"' if wire.kind == "http json" else b"xBADy", form))
        assert (reply.code, reply.rejected) == ("OK", 0)
        if target.own is not None:
            good, bad = target.spans()[-2:]
            assert good.attributes == {}
            assert bad.attributes["k"][:2] == "x\ufffd"
            assert bad.attributes["passhat.repaired"] == ["invalid_unicode attributes.k"]


@pytest.mark.item(79)
def test_one_signal_posted_as_the_other(target: Target, wire: Wire, signal: Signal) -> None:
    wrong: Signal = "logs" if signal == "traces" else "traces"
    for request in (
        traces(span(1, {"a": 1, "b": "text"}, trace_id=target.trace_id), span(2, trace_id=target.trace_id))
        if signal == "traces"
        else logs(log("text", {"a": 1}, trace_id=target.trace_id), log({"map": 1}, event_name="event")),
    ):
        assert wire.send(request, wrong).code == "INVALID_ARGUMENT"
    target.stored("traces")
    target.stored("logs")


def test_the_json_of_this_suite_is_what_it_should_be() -> None:
    """The requests of the JSON wire come from the stock encoder: ids in hex, enums as numbers, 64 bits as text."""
    shown = as_dict(traces(span(1, {"i": 1}, kind=3)))["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    assert shown["spanId"] == "0000000000000001"
    assert (shown["kind"], shown["startTimeUnixNano"]) == (3, str(START))
    assert json.dumps(shown["attributes"]) == '[{"key": "i", "value": {"intValue": "1"}}]'
