"""OTLP/JSON decoding: OTLP's rules, exact numbers, one bad span costs itself, one bad value a mark."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.errors import BadData
from collector.journal import Signal
from collector.receive.findings import MARK, Findings
from collector.receive.otlp_json import decode
from tests.collector.receive.build import (
    START,
    TRACE,
    as_dict,
    as_json,
    field,
    log,
    logs,
    nested_list,
    nested_map,
    span,
    span_id,
    traces,
)

IDS = {"traceId": TRACE.hex(), "spanId": span_id(1).hex()}
EVERYTHING = {
    "text": "a\x00b 😀 \u202eabc",
    "true": True,
    "int": 2**63 - 1,
    "low": -(2**63),
    "double": 0.1,
    "bytes": b"\x00\x01\xff",
    "empty": None,
    "empty text": "",
    "list": [1, "x", True, None, 0.5, b"\xfe", [], [["deep"]]],
    "map": {"a": {"b": [{"c": None}]}, "": "empty key", "dots.a": 1},
    "": "empty key",
    "quote'\"\\`;--": "odd key",
}


def decoded(root: Any, signal: Signal = "traces") -> tuple[Any, Findings]:
    findings = Findings()
    body = root if isinstance(root, bytes) else json.dumps(root).encode()
    request = decode(body, signal, findings)
    findings.write_marks()
    return request, findings


def one_span(**fields: Any) -> dict[str, Any]:
    return {"resourceSpans": [{"scopeSpans": [{"spans": [{**IDS, **fields}]}]}]}


def with_value(value: Any) -> dict[str, Any]:
    return one_span(attributes=[{"key": "k", "value": value}])


def the_span(root: Any) -> Any:
    request, findings = decoded(root)
    assert findings.refused == {}
    return request.resource_spans[0].scope_spans[0].spans[0]


def refusal(root: Any) -> str:
    _, findings = decoded(root)
    assert findings.refused_count == 1
    return f"{findings.first_field}: {findings.first_why}"


def is_refused(root: Any) -> bool:
    try:
        return decoded(root)[1].refused_count > 0
    except BadData:
        return True


def test_equals_the_protobuf_it_was_made_from() -> None:
    one = span(1, EVERYTHING, parent_span_id=span_id(9), trace_state="a=b", flags=0xFFFFFFFF, kind=42)
    one.events.add(name="e", time_unix_nano=2**64 - 1, dropped_attributes_count=2**32 - 1).attributes.extend(
        span(1, EVERYTHING).attributes
    )
    one.links.add(trace_id=TRACE, span_id=span_id(3), trace_state="x=y", flags=7)
    one.status.code, one.status.message = 2, "boom"
    one.dropped_attributes_count, one.dropped_events_count, one.dropped_links_count = 1, 2, 3
    request = traces(one, span(2), resource=EVERYTHING)
    group = request.resource_spans[0]
    group.schema_url = group.scope_spans[0].schema_url = "https://opentelemetry.io/schemas/1.40.0"
    group.scope_spans[0].scope.attributes.extend(span(1, EVERYTHING).attributes)
    group.resource.entity_refs.add(type="service", id_keys=["service.name"], description_keys=["a", "b"])
    assert decoded(as_json(request))[0] == request


def test_logs_equal_the_protobuf_they_were_made_from() -> None:
    request = logs(
        log({"role": "user", "parts": [1, None]}, EVERYTHING, trace_id=TRACE, span_id=span_id(1), event_name="gen_ai"),
        log(None, time_unix_nano=0, severity_number=99, severity_text="odd", flags=1, dropped_attributes_count=4),
    )
    assert decoded(as_json(request), "logs")[0] == request


def test_nan_and_infinities_as_text() -> None:
    found = [the_span(with_value({"doubleValue": v})) for v in ("NaN", "Infinity", "-Infinity", 1, "1.5", "2e3")]
    values = [one.attributes[0].value.double_value for one in found]
    assert math.isnan(values[0])
    assert values[1:] == [math.inf, -math.inf, 1.0, 1.5, 2000.0]
    assert all(len(one.attributes) == 1 for one in found)


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "[NaN]"])
def test_a_bare_nan_is_not_json(text: str) -> None:
    body = json.dumps(with_value({"doubleValue": "@"})).replace('"@"', text).encode()
    with pytest.raises(BadData, match="not JSON"):
        decoded(body)


def test_ids_are_hex_in_either_case() -> None:
    one = the_span(one_span(traceId="A0" * 16, spanId="aB" * 8, parentSpanId="Ff" * 8))
    assert (one.trace_id, one.span_id, one.parent_span_id) == (b"\xa0" * 16, b"\xab" * 8, b"\xff" * 8)


@pytest.mark.parametrize("text", ["oAAAAAAAAAAAAAAAAAAAAg==", "zz" * 16, "a0 " * 16, "a", 5, ["a0"], {"low": 1}, True])
def test_an_id_that_is_not_hex_has_no_valid_length(text: Any) -> None:
    assert len(the_span(one_span(traceId=text)).trace_id) not in (0, 16)


def test_integers_as_text_and_as_number_are_exact() -> None:
    for start in (str(START + 1), START + 1):
        assert the_span(one_span(startTimeUnixNano=start)).start_time_unix_nano == START + 1
    assert the_span(one_span(startTimeUnixNano=2**64 - 1)).start_time_unix_nano == 2**64 - 1
    for number in (2**63 - 1, -(2**63), 9007199254740993, 0):
        for form in (number, str(number)):
            assert the_span(with_value({"intValue": form})).attributes[0].value.int_value == number


@pytest.mark.parametrize(
    "time",
    [
        "1.5",
        1.5,
        1.5e18,
        "1e18",
        -1,
        "-1",
        2**64,
        str(2**64),
        "",
        " 1",
        "+1",
        "0x10",
        "١",
        "9" * 10_000,
        True,
        {"low": 1},
    ],
)
def test_a_time_that_is_no_unsigned_integer_costs_its_span(time: Any) -> None:
    assert refusal(one_span(startTimeUnixNano=time)).startswith(
        "resourceSpans[0].scopeSpans[0].spans[0].startTimeUnixNano: must "
    )


@pytest.mark.parametrize("form", ["1.5", 1.5, "1e3", 1e300, "", "x", True, [], {}])
def test_an_attribute_integer_of_another_form_costs_its_span(form: Any) -> None:
    assert ".attributes[0].value.intValue: must be an integer" in refusal(with_value({"intValue": form}))


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 2**64, 10**25, -(10**30), 10**400])
def test_an_attribute_integer_beyond_64_bits_is_kept_as_text_and_marked(number: int) -> None:
    for form in (number, str(number)):
        request, findings = decoded(with_value({"intValue": form}))
        one = request.resource_spans[0].scope_spans[0].spans[0]
        assert one.attributes[0].value.string_value == str(number)
        assert one.attributes[1].key == MARK
        assert one.attributes[1].value.array_value.values[0].string_value == "oversized_integer attributes.k"
        assert findings.repaired == {"oversized_integer": 1}
        assert findings.refused == {}


def test_a_number_beyond_a_double_is_infinite_and_marked() -> None:
    body = json.dumps(with_value({"doubleValue": "@"})).replace('"@"', "-1e999").encode()
    for form in (body, with_value({"doubleValue": "-1e999"}), with_value({"doubleValue": -(10**400)})):
        request, findings = decoded(form)
        assert request.resource_spans[0].scope_spans[0].spans[0].attributes[0].value.double_value == -math.inf
        assert findings.repaired == {"oversized_double": 1}


def test_enum_names_are_refused_and_unknown_numbers_kept() -> None:
    assert ".kind: must be an integer" in refusal(one_span(kind="SPAN_KIND_SERVER"))
    assert ".status.code: must be an integer" in refusal(one_span(status={"code": "STATUS_CODE_OK"}))
    assert the_span(one_span(kind=2)).kind == 2
    assert the_span(one_span(kind=42)).kind == 42


@pytest.mark.parametrize("extra", [1, "x", {"deep": [[[{"a": None}]]]}, [[[[1]]]], None])
def test_unknown_keys_are_ignored_at_every_level(extra: Any) -> None:
    request = traces(span(1, {"k": {"m": [1]}}))
    request.resource_spans[0].scope_spans[0].spans[0].events.add(name="e")
    request.resource_spans[0].scope_spans[0].spans[0].links.add(trace_id=TRACE, span_id=span_id(2))

    def sprinkle(node: Any) -> Any:
        if isinstance(node, list):
            return [sprinkle(item) for item in node]
        return {"unknownKey": extra, **{k: sprinkle(v) for k, v in node.items()}} if isinstance(node, dict) else node

    assert decoded(sprinkle(as_dict(request)))[0] == request


def test_null_is_absent_everywhere() -> None:
    root = as_dict(traces(span(1, {"k": "v"})))
    group = root["resourceSpans"][0]
    one = group["scopeSpans"][0]["spans"][0]
    one.update(dict.fromkeys(("parentSpanId", "events", "links", "status", "traceState", "flags", "droppedLinksCount")))
    group.update(schemaUrl=None)
    group["scopeSpans"][0]["scope"].update(version=None, attributes=None)
    one["attributes"][0]["value"]["intValue"] = None
    assert decoded(root)[0] == traces(span(1, {"k": "v"}))
    for empty in ({"resourceSpans": None}, {"resourceSpans": [{"scopeSpans": None, "resource": None}]}):
        assert not any(g.scope_spans for g in decoded(empty)[0].resource_spans)


def test_snake_case_is_unknown_and_warned_of() -> None:
    request, findings = decoded({"resource_spans": [{"scope_spans": []}]})
    assert request == ExportTraceServiceRequest()
    assert "lowerCamelCase" in findings.warning


@pytest.mark.parametrize("text", ["AAH/+w==", "AAH/+w", "AAH_-w==", "AAH_-w"])
def test_base64_in_its_four_forms(text: str) -> None:
    assert the_span(with_value({"bytesValue": text})).attributes[0].value.bytes_value == b"\x00\x01\xff\xfb"


@pytest.mark.parametrize("text", ["A", "????", 5, "AA\nAA", "ÄÄÄÄ"])
def test_what_is_not_base64_costs_its_span(text: Any) -> None:
    assert "bytesValue: must be" in refusal(with_value({"bytesValue": text}))


def test_lone_surrogates_are_replaced_and_marked_and_neighbours_untouched() -> None:
    root = one_span(name="n", attributes=[{"key": "good", "value": {"stringValue": "😀"}}])
    spans = root["resourceSpans"][0]["scopeSpans"][0]["spans"]
    spans.append({**IDS, "name": "a\ud800b", "attributes": [{"key": "k\udfff", "value": {"stringValue": "x\ud83d"}}]})
    request, findings = decoded(root)
    good, bad = request.resource_spans[0].scope_spans[0].spans
    assert good.attributes[0].value.string_value == "😀"
    assert len(good.attributes) == 1
    assert (bad.name, bad.attributes[0].key, bad.attributes[0].value.string_value) == ("a\ufffdb", "k\ufffd", "x\ufffd")
    marks = [v.string_value for v in bad.attributes[1].value.array_value.values]
    assert marks == [
        "invalid_unicode name",
        "invalid_unicode attributes.k\ufffd",
        "invalid_unicode attributes.k\ufffd",
    ]
    assert findings.repaired == {"invalid_unicode": 3}


def test_a_byte_that_is_no_utf8_is_replaced_and_marked() -> None:
    body = json.dumps(with_value({"stringValue": "x@y"})).encode().replace(b"@", b"\xff")
    request, findings = decoded(body)
    assert request.resource_spans[0].scope_spans[0].spans[0].attributes[0].value.string_value == "x\ufffdy"
    assert findings.repaired == {"invalid_unicode": 1}


def test_repairs_say_where_inside_lists_maps_events_and_resources() -> None:
    bad = {"stringValue": "\ud800"}
    inner = {"arrayValue": {"values": [{}, {"kvlistValue": {"values": [{"key": "m", "value": bad}]}}]}}
    root = one_span(events=[{}, {"attributes": [{"key": "e", "value": inner}]}])
    root["resourceSpans"][0]["resource"] = {"attributes": [{"key": "r", "value": bad}]}
    root["resourceSpans"][0]["scopeSpans"][0]["scope"] = {"name": "\ud800"}
    request, _ = decoded(root)
    group = request.resource_spans[0]
    marked = [group.resource, group.scope_spans[0].scope, group.scope_spans[0].spans[0]]
    assert [m.attributes[-1].value.array_value.values[0].string_value for m in marked] == [
        "invalid_unicode resource.attributes.r",
        "invalid_unicode scope.name",
        "invalid_unicode events[1].attributes.e[1].m",
    ]


def test_duplicate_json_keys_the_last_wins() -> None:
    body = json.dumps(one_span(name="second")).replace('"name"', '"name": "first", "name"').encode()
    assert the_span(body).name == "second"


def test_an_any_value_with_two_kinds_keeps_the_last_and_is_marked() -> None:
    request, findings = decoded(with_value({"stringValue": "a", "intValue": "7"}))
    assert request.resource_spans[0].scope_spans[0].spans[0].attributes[0].value.int_value == 7
    assert findings.repaired == {"several_kinds": 1}


def test_a_byte_order_mark_is_accepted() -> None:
    assert the_span(b"\xef\xbb\xbf" + json.dumps(one_span(name="bom")).encode()).name == "bom"


WHERE: dict[str, tuple[list[int], list[str]]] = {  # the way to the attribute in field numbers and in JSON names
    "span": ([1, 2, 2, 9], ["resourceSpans", "scopeSpans", "spans", "attributes"]),
    "resource": ([1, 1, 1], ["resourceSpans", "resource", "attributes"]),
    "scope": ([1, 2, 1, 3], ["resourceSpans", "scopeSpans", "scope", "attributes"]),
    "event": ([1, 2, 2, 11, 3], ["resourceSpans", "scopeSpans", "spans", "events", "attributes"]),
}


@pytest.mark.parametrize("nested", [nested_list, nested_map])
@pytest.mark.parametrize("where", WHERE)
def test_nesting_has_the_limit_of_the_protobuf_parser(nested: Any, where: str) -> None:
    numbers, names = WHERE[where]
    taken = 0
    for depth in range(20, 60):
        raw, shown = nested(depth)
        raw, shown = field(1, b"k") + field(2, raw), {"key": "k", "value": shown}
        for number, name in zip(reversed(numbers), reversed(names), strict=True):
            raw, shown = field(number, raw), {name: shown if name in ("resource", "scope") else [shown]}
        try:
            expected = ExportTraceServiceRequest.FromString(raw)
        except DecodeError:
            assert is_refused(shown)
        else:
            request, findings = decoded(shown)
            assert findings.refused == {}
            assert request == expected
            taken += 1
    assert 5 < taken < 35


@pytest.mark.parametrize("depth", [200, 5000, 200_000])
def test_a_nesting_bomb_is_refused(depth: int) -> None:
    value = '{"arrayValue":{"values":[' * depth + '{"stringValue":"x"}' + "]}}" * depth
    body = json.dumps(with_value("@")).replace('"@"', value).encode()
    for bomb in (body, b'{"resourceSpans":' + b"[" * depth + b"]" * depth + b"}"):
        assert is_refused(bomb)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"", "line 1 column 1"),
        (b"\x00\xff\xfe garbage", "line 1 column 1"),
        (b'{"resourceSpans":[', "not JSON"),
        (b"[]", "must be a JSON object"),
        (b'"text"', "must be a JSON object"),
        (b"null", "must be a JSON object"),
        (b'{"resourceSpans":{}}', "resourceSpans: must be a list"),
        (b'{"resourceSpans":[5]}', "resourceSpans[0]: must be an object"),
        (b'{"resourceSpans":[{"scopeSpans":5}]}', "resourceSpans[0].scopeSpans: must be a list"),
        (b'{"resourceSpans":[{"scopeSpans":[[]]}]}', "resourceSpans[0].scopeSpans[0]: must be an object"),
        (b'{"resourceSpans":[{"scopeSpans":[{"spans":"x"}]}]}', "scopeSpans[0].spans: must be a list"),
        (b'{"resourceSpans":[{"resource":5}]}', "resourceSpans[0].resource: must be an object"),
        (b'{"a":' + b"9" * 10_000 + b"}", "not JSON"),
        ('{"a":"b"}'.encode("utf-16"), "not JSON"),
        (b'{"resourceLogs":[{}]}', "post them to /v1/logs"),
        (b'{"resourceMetrics":[{}]}', "metrics are not served"),
    ],
)
def test_what_is_no_request_is_refused_whole(body: bytes, says: str) -> None:
    with pytest.raises(BadData, match=says.replace("[", r"\[").replace("]", r"\]")):
        decoded(body)


def test_a_bad_span_costs_itself() -> None:
    root = one_span(name="good")
    spans = root["resourceSpans"][0]["scopeSpans"][0]["spans"]
    spans += [
        {**IDS, "name": 5},
        5,
        {**IDS, "attributes": [{"key": "k", "value": "bare"}]},
        {**IDS, "name": "good too"},
    ]
    request, findings = decoded(root)
    assert [s.name for s in request.resource_spans[0].scope_spans[0].spans] == ["good", "good too"]
    assert findings.refused == {"bad_field": 3}
    assert findings.first_field == "resourceSpans[0].scopeSpans[0].spans[1].name"


def test_a_bad_resource_costs_its_own_spans_only() -> None:
    root = as_dict(traces(span(2), into=traces(span(1), span(3))))
    root["resourceSpans"][0]["resource"]["attributes"].append({"key": "k", "value": {"boolValue": "yes"}})
    request, findings = decoded(root)
    assert [s.name for g in request.resource_spans for sc in g.scope_spans for s in sc.spans] == ["span 2"]
    assert findings.refused == {"bad_field": 2}
    assert findings.first_field == "resourceSpans[0].resource.attributes[1].value.boolValue"


def test_a_refused_span_leaves_no_mark_on_the_next() -> None:
    root = one_span(name="\ud800", kind="bad")
    root["resourceSpans"][0]["scopeSpans"][0]["spans"].append({**IDS, "name": "clean"})
    request, findings = decoded(root)
    (one,) = request.resource_spans[0].scope_spans[0].spans
    assert (one.name, len(one.attributes)) == ("clean", 0)
    assert findings.repaired == {}


def test_string_table_indices_are_taken_as_they_are() -> None:
    one = the_span(one_span(attributes=[{"keyStrindex": 3, "value": {"stringValueStrindex": 4}}]))
    assert (one.attributes[0].key_strindex, one.attributes[0].value.string_value_strindex) == (3, 4)


def test_errors_quote_nothing_of_what_was_sent() -> None:
    secret = "sk-canary"
    for root in (one_span(name={secret: 1}), one_span(kind=secret), with_value({"intValue": secret})):
        assert secret not in refusal(root)
    for body in (f'{{"{secret}'.encode(), f"[{secret}]".encode()):
        with pytest.raises(BadData) as caught:
            decoded(body)
        assert secret not in str(caught.value)
