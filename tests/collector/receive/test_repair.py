"""Protobuf that does not parse: the broken string or the broken span pays, nothing else does."""

from __future__ import annotations

import os
import random
from typing import Any

import pytest
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.errors import BadData
from collector.receive.findings import MARK, Findings
from collector.receive.repair import repair
from tests.collector.receive.build import TRACE, field, log, logs, nested_list, span, span_id, traces

BAD = b"B\xff\xfeD"  # four bytes, like the text it replaces: no length changes


def mended(body: bytes, signal: Any = "traces") -> tuple[Any, Findings]:
    findings = Findings()
    request = repair(body, signal, findings)
    findings.write_marks()
    return request, findings


def marks(element: Any) -> list[str]:
    found = [a for a in element.attributes if a.key == MARK]
    return [v.string_value for a in found for v in a.value.array_value.values]


def broken(request: Any) -> bytes:
    """The request with every `B__D` in it turned into bytes that are no UTF-8."""
    body = bytes(request.SerializeToString()).replace(b"B__D", BAD)
    with pytest.raises(DecodeError):
        type(request).FromString(body)
    return body


def test_one_bad_byte_costs_a_mark_on_its_value_only() -> None:
    request, findings = mended(broken(traces(span(1, {"good": "fine"}), span(2, {"a": 1, "bad": "xB__Dy", "c": "z"}))))
    one, two = request.resource_spans[0].scope_spans[0].spans
    assert one == span(1, {"good": "fine"})
    assert [a.value.string_value for a in two.attributes[1:3]] == ["xB\ufffd\ufffdDy", "z"]
    assert marks(two) == ["invalid_unicode attributes.bad"]
    assert marks(one) == []
    assert findings.repaired == {"invalid_unicode": 1}
    assert findings.refused == {}


def test_every_string_field_of_a_request_can_be_repaired() -> None:
    bad = "B__D"
    one = span(1, {"k": bad, "list": [1, [bad]], "map": {bad: {"deep": bad}}}, name=bad, trace_state=bad)
    one.status.message = bad
    one.events.add(name=bad).attributes.extend(span(1, {bad: "v"}).attributes)
    one.links.add(trace_id=TRACE, span_id=span_id(2), trace_state=bad).attributes.extend(span(1, {"l": bad}).attributes)
    request = traces(one, span(2), resource={"r": bad}, scope=bad)
    group = request.resource_spans[0]
    group.schema_url = group.scope_spans[0].schema_url = bad
    group.scope_spans[0].scope.version = bad
    found, findings = mended(broken(request))
    group = found.resource_spans[0]
    assert marks(group.scope_spans[0].spans[0]) == [
        f"invalid_unicode {where}"
        for where in (
            "traceState",
            "name",
            "attributes.k",
            "attributes.list[1][0]",
            "attributes.map.B\ufffd\ufffdD",
            "attributes.map.B\ufffd\ufffdD.deep",
            "events[0].name",
            "events[0].attributes.B\ufffd\ufffdD",
            "links[0].traceState",
            "links[0].attributes.l",
            "status.message",
        )
    ]
    assert marks(group.resource) == [
        "invalid_unicode attributes.r",
        "invalid_unicode scopeSpans[0].schemaUrl",
        "invalid_unicode schemaUrl",
    ]
    assert marks(group.scope_spans[0].scope) == ["invalid_unicode name", "invalid_unicode version"]
    assert findings.repaired == {"invalid_unicode": 16}
    assert group.scope_spans[0].spans[1] == span(2)


def test_logs_are_repaired_like_spans() -> None:
    request, findings = mended(broken(logs(log("B__D", event_name="B__D"), log({"k": "B__D"}), log("fine"))), "logs")
    records = request.resource_logs[0].scope_logs[0].log_records
    assert [r.attributes[0].key if r.attributes else "" for r in records] == [MARK, MARK, ""]
    assert marks(records[0]) == ["invalid_unicode body", "invalid_unicode eventName"]
    assert marks(records[1]) == ["invalid_unicode body.k"]
    assert findings.repaired == {"invalid_unicode": 3}


def test_bytes_values_and_unknown_fields_are_left_as_they_are() -> None:
    request = traces(span(1, {"b": BAD, "bad": "B__D"}))
    body = broken(request) + field(999, BAD)
    found, findings = mended(body)
    assert found.resource_spans[0].scope_spans[0].spans[0].attributes[0].value.bytes_value == BAD
    assert findings.repaired == {"invalid_unicode": 1}
    assert BAD in found.SerializeToString()


def test_many_resources_and_scopes_keep_their_places() -> None:
    request = traces(
        span(4, {"k": "B__D"}), into=traces(span(1), span(2, {"k": "B__D"}), span(3), resource={"r": "B__D"})
    )
    found, _ = mended(broken(request))
    shown = [(s.name, len(marks(s))) for g in found.resource_spans for sc in g.scope_spans for s in sc.spans]
    assert shown == [("span 1", 0), ("span 2", 1), ("span 3", 0), ("span 4", 1)]


def raw_request(*spans: bytes) -> bytes:
    return field(1, field(2, b"".join(field(2, one) for one in spans)))


def test_a_span_beyond_repair_is_refused_and_its_neighbours_are_kept() -> None:
    good = [span(n).SerializeToString() for n in (1, 2, 3)]
    for bad in (b"\x0a\x7fshort", b"\xff\xff\xff", b"\x0f", field(9, field(1, b"k") + field(2, nested_list(200)[0]))):
        found, findings = mended(raw_request(good[0], bad, good[1], b"\x08", good[2]))
        assert [s.name for s in found.resource_spans[0].scope_spans[0].spans] == ["span 1", "span 2", "span 3"]
        assert findings.refused == {"undecodable": 2}
        assert findings.first_field == "resourceSpans[0].scopeSpans[0].spans[1]"


def test_marks_find_their_span_behind_one_that_was_left_out() -> None:
    bad_text = span(2, {"k": "B__D"}).SerializeToString().replace(b"B__D", BAD)
    found, _ = mended(raw_request(b"\xff", bad_text, b"\xff", bad_text, span(3).SerializeToString()))
    spans = found.resource_spans[0].scope_spans[0].spans
    assert [(s.name, marks(s)) for s in spans] == [
        ("span 2", ["invalid_unicode attributes.k"]),
        ("span 2", ["invalid_unicode attributes.k"]),
        ("span 3", []),
    ]


@pytest.mark.parametrize(
    "body",
    [
        b"garbage",
        b"\xff" * 20,
        bytes(range(256)) * 9,
        b"\x0a",
        b"\x0a\xff\xff\xff\xff\x0f",
        b'{"resourceSpans":[]}',
        b"\x00",
    ],
)
def test_garbage_is_bad_data(body: bytes) -> None:
    with pytest.raises(BadData, match="ExportTraceServiceRequest"):
        mended(body)


def test_a_request_cut_anywhere_is_never_more_than_bad_data() -> None:
    body = traces(span(1, {"k": [1, {"a": "b"}]}), span(2), into=traces(span(3))).SerializeToString()
    for end in range(1, len(body)):
        try:
            ExportTraceServiceRequest.FromString(body[:end])
        except DecodeError:
            with pytest.raises(BadData):
                mended(body[:end])


def test_mutated_bytes_are_repaired_or_refused_and_nothing_else() -> None:
    chance = random.Random(7)
    body = traces(*(span(n, {"text": "x" * 30, "list": ["a", {"b": "c"}]}) for n in range(1, 6))).SerializeToString()
    outcomes = {"repaired": 0, "refused": 0}
    for _ in range(3000):
        mutant = bytearray(body)
        for _ in range(chance.randint(1, 3)):
            mutant[chance.randrange(len(mutant))] = chance.randrange(256)
        try:
            found, _ = mended(bytes(mutant))
        except BadData:
            outcomes["refused"] += 1
        else:
            assert type(found).FromString(found.SerializeToString()) == found or b"\x7f" in found.SerializeToString()
            outcomes["repaired"] += 1
    assert min(outcomes.values()) > 100


def test_work_is_bounded() -> None:
    many_fields = field(1, field(1, b"\x80\x01\x00" * 2_000_000 + b"\xff"))
    with pytest.raises(BadData):
        mended(many_fields)
    deep = b"\xff" + os.urandom(10) * 100_000
    for _ in range(60):
        deep = field(5, field(1, deep))
    with pytest.raises(BadData):
        mended(raw_request(field(9, field(1, b"k") + field(2, deep)), span(1).SerializeToString()))
