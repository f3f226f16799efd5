"""Protobuf payloads become Python values exactly, with nothing dropped or coerced."""

from __future__ import annotations

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList

from collector.normalise.unpack import logs_of, spans_of


def _request() -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add(schema_url="https://example/1")
    group.resource.attributes.add(key="service.name").value.string_value = "shop"
    group.resource.dropped_attributes_count = 2
    scoped = group.scope_spans.add()
    scoped.scope.name, scoped.scope.version = "lib", "1.2"
    scoped.scope.attributes.add(key="k").value.bool_value = True
    scoped.spans.add(trace_id=b"\xab" * 16, span_id=b"\x01" * 8, name="a", start_time_unix_nano=2**64 - 1)
    scoped.spans.add(trace_id=b"\xab" * 16, span_id=b"\x02" * 8, parent_span_id=b"\x01" * 8, name="b")
    return request


def test_spans_share_their_resource_and_scope() -> None:
    first, second = spans_of(_request().SerializeToString())
    assert first.resource is second.resource
    assert first.scope is second.scope
    assert first.resource.attributes == {"service.name": "shop"}
    assert (first.resource.schema_url, first.resource.dropped_attributes) == ("https://example/1", 2)
    assert (first.scope.name, first.scope.version, first.scope.attributes) == ("lib", "1.2", {"k": True})


def test_ids_are_lower_case_hex_and_times_are_not_clamped() -> None:
    first, second = spans_of(_request().SerializeToString())
    assert first.trace_id == "ab" * 16
    assert first.start_ns == 2**64 - 1
    assert (first.parent_span_id, second.parent_span_id) == ("", "01" * 8)


def test_every_kind_of_value_keeps_its_type() -> None:
    request = _request()
    span = request.resource_spans[0].scope_spans[0].spans[0]
    items = ArrayValue(values=[AnyValue(int_value=-(2**63)), AnyValue(), AnyValue(bytes_value=b"\xff")])
    pairs = KeyValueList(values=[KeyValue(key="x", value=AnyValue(double_value=0.5)), KeyValue(key="y")])
    for key, value in {
        "text": AnyValue(string_value="a\x00b"),
        "empty": AnyValue(string_value=""),
        "nothing": AnyValue(),
        "no": AnyValue(bool_value=False),
        "zero": AnyValue(int_value=0),
        "list": AnyValue(array_value=items),
        "map": AnyValue(kvlist_value=pairs),
    }.items():
        span.attributes.append(KeyValue(key=key, value=value))
    found = next(spans_of(request.SerializeToString())).attributes
    assert found == {
        "text": "a\x00b",
        "empty": "",
        "nothing": None,
        "no": False,
        "zero": 0,
        "list": [-(2**63), None, b"\xff"],
        "map": {"x": 0.5, "y": None},
    }
    assert found["no"] is False


def test_a_repeated_key_keeps_its_last_value() -> None:
    request = _request()
    span = request.resource_spans[0].scope_spans[0].spans[0]
    span.attributes.add(key="n").value.string_value = "first"
    span.attributes.add(key="n").value.int_value = 2
    assert next(spans_of(request.SerializeToString())).attributes["n"] == 2


def test_events_links_status_and_dropped_counts_arrive() -> None:
    request = _request()
    span = request.resource_spans[0].scope_spans[0].spans[0]
    span.status.code, span.status.message = 2, "no"
    event = span.events.add(name="exception", time_unix_nano=5, dropped_attributes_count=1)
    event.attributes.add(key="exception.type").value.string_value = "ValueError"
    span.links.add(trace_id=b"\x0c" * 16, span_id=b"\x0d" * 8, trace_state="a=b", flags=1)
    span.dropped_attributes_count, span.dropped_events_count, span.dropped_links_count = 1, 2, 3
    found = next(spans_of(request.SerializeToString()))
    assert (found.status_code, found.status_message) == (2, "no")
    assert found.events[0].attributes == {"exception.type": "ValueError"}
    assert (found.events[0].time_ns, found.events[0].dropped_attributes) == (5, 1)
    assert (found.links[0].trace_id, found.links[0].span_id, found.links[0].flags) == ("0c" * 16, "0d" * 8, 1)
    assert (found.dropped_attributes, found.dropped_events, found.dropped_links) == (1, 2, 3)


def test_log_records_keep_body_event_name_and_both_times() -> None:
    request = ExportLogsServiceRequest()
    record = (
        request.resource_logs.add()
        .scope_logs.add()
        .log_records.add(
            time_unix_nano=1, observed_time_unix_nano=2, event_name="e", severity_number=9, severity_text="INFO"
        )
    )
    record.body.kvlist_value.values.add(key="content").value.string_value = "hi"
    record.attributes.add(key="event.name").value.string_value = "e2"
    (found,) = logs_of(request.SerializeToString())
    assert found.body == {"content": "hi"}
    assert (found.time_ns, found.observed_ns, found.event_name) == (1, 2, "e")
    assert (found.severity_number, found.severity_text, found.trace_id) == (9, "INFO", "")
    assert found.attributes == {"event.name": "e2"}
