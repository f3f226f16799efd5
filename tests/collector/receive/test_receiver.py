"""The transport-neutral receiver: what it keeps, what it refuses, what it counts, what it answers."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.rpc.error_details_pb2 import BadRequest, RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from collector.errors import Forbidden, SpoolFull, Unauthenticated
from collector.metrics import Metrics
from collector.receive.findings import MARK
from collector.receive.limits import Limits
from collector.receive.otlp import Principal, Receiver
from collector.receive.status import Reply
from collector.spool import Spool, SpoolEntry
from tests.collector.receive.build import START, TRACE, as_dict, as_json, log, logs, span, span_id, traces
from tests.collector.receive.serving import slow_disk

MIB = 1 << 20


class Bench:
    """A receiver over a real spool."""

    def __init__(self, folder: Path, limits: Limits | None = None, **options: Any) -> None:
        self.metrics = Metrics()
        self.spool = Spool(folder / "spool", min_free_bytes=0)
        self.receiver = Receiver(self.spool, self.metrics, limits, **options)

    def send(self, request: Any, signal: Any = "traces", encoding: Any = "protobuf", token: str | None = None) -> Reply:
        if not isinstance(request, bytes):
            request = request.SerializeToString() if encoding == "protobuf" else as_json(request)
        return self.receiver.handle(signal, encoding, request, token)

    def entries(self) -> list[SpoolEntry]:
        return self.spool.read(0, max_entries=1000, max_bytes=1 << 40)

    def spans(self) -> list[Any]:
        found = [ExportTraceServiceRequest.FromString(e.payload) for e in self.entries()]
        return [s for r in found for g in r.resource_spans for sc in g.scope_spans for s in sc.spans]

    def logs(self) -> list[Any]:
        found = [ExportLogsServiceRequest.FromString(e.payload) for e in self.entries()]
        return [r for f in found for g in f.resource_logs for sc in g.scope_logs for r in sc.log_records]

    def count(self, name: str, **labels: str) -> float:
        return self.metrics.registry.get_sample_value(f"passhat_{name}_total", labels) or 0.0


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.spool.close()


@pytest.fixture
def bench_with(tmp_path: Path) -> Iterator[Any]:
    made: list[Bench] = []

    def make(limits: Limits | None = None, **options: Any) -> Bench:
        made.append(Bench(tmp_path / str(len(made)), limits, **options))
        return made[-1]

    yield make
    for one in made:
        one.spool.close()


def test_protobuf_that_is_valid_is_kept_byte_for_byte(bench: Bench) -> None:
    body = traces(span(1, {"k": "v"}), span(2)).SerializeToString() + b"\xba\x3e\x03new"  # an unknown field 999
    reply = bench.send(body)
    assert (reply.http_status, reply.grpc_code, reply.body) == (200, "OK", b"")
    (entry,) = bench.entries()
    assert entry.payload == body
    assert (entry.project, entry.signal) == ("default", "traces")
    assert bench.count("accepted", signal="traces") == 2
    assert bench.count("received_bytes", signal="traces") == len(body)


@pytest.mark.parametrize("encoding", ["protobuf", "json"])
def test_json_and_protobuf_of_one_request_are_kept_alike(bench: Bench, encoding: str) -> None:
    request = traces(span(1, {"k": [1, None, {"a": b"b"}]}), span(2))
    assert bench.send(request, encoding=encoding).body == (b"" if encoding == "protobuf" else b"{}")
    assert ExportTraceServiceRequest.FromString(bench.entries()[0].payload) == request
    assert bench.send(logs(log(), log("b")), "logs", encoding).http_status == 200
    assert bench.count("accepted", signal="logs") == 2


EMPTY_JSON = [
    "{}",
    '{"resourceSpans":[]}',
    '{"resourceSpans":[{}]}',
    '{"resourceSpans":[{"scopeSpans":[]}]}',
    '{"resourceSpans":[{"scopeSpans":[{"spans":[]}]}]}',
]


@pytest.mark.parametrize(("body", "encoding"), [(b"", "protobuf"), *((t.encode(), "json") for t in EMPTY_JSON)])
def test_a_request_with_nothing_in_it_succeeds_and_leaves_nothing(bench: Bench, body: bytes, encoding: str) -> None:
    reply = bench.send(body, encoding=encoding)
    assert (reply.http_status, reply.body) == (200, b"" if encoding == "protobuf" else b"{}")
    assert bench.spool.stats().entries == 0


# --- ids ---


@pytest.mark.parametrize("length", [0, 8, 15, 17, 32])
def test_a_trace_id_of_another_length_costs_its_span(bench: Bench, length: int) -> None:
    reply = bench.send(traces(span(1, trace_id=b"\1" * length), span(2), span(3)))
    response = ExportTraceServiceResponse.FromString(reply.body)
    assert (reply.http_status, response.partial_success.rejected_spans) == (200, 1)
    assert "resourceSpans[0].scopeSpans[0].spans[0].traceId" in response.partial_success.error_message
    assert [s.name for s in bench.spans()] == ["span 2", "span 3"]
    assert bench.count("refused", signal="traces", reason="invalid_trace_id") == 1
    assert bench.count("accepted", signal="traces") == 2


@pytest.mark.parametrize("bad", [b"", b"\1" * 7, b"\1" * 9, bytes(8)])
def test_a_bad_span_id_costs_its_span(bench: Bench, bad: bytes) -> None:
    reply = bench.send(traces(span(1), span(2, span_id=bad)), encoding="json")
    assert json.loads(reply.body)["partialSuccess"]["rejectedSpans"] == "1"
    assert [s.name for s in bench.spans()] == ["span 1"]
    assert bench.count("refused", signal="traces", reason="invalid_span_id") == 1


def test_when_every_span_is_bad_the_request_is(bench: Bench) -> None:
    reply = bench.send(traces(span(1, trace_id=bytes(16)), span(2, span_id=b"")))
    found = Status.FromString(reply.body)
    assert (reply.http_status, reply.grpc_code, found.code) == (400, "INVALID_ARGUMENT", 3)
    details = BadRequest()
    assert found.details[0].Unpack(details)
    assert details.field_violations[0].field == "resourceSpans[0].scopeSpans[0].spans[0].traceId"
    assert bench.count("refused", signal="traces", reason="invalid_trace_id") == 1
    assert bench.count("refused", signal="traces", reason="invalid_span_id") == 1
    assert bench.spool.stats().entries == 0


def test_many_bad_spans_among_good_ones(bench: Bench) -> None:
    mixed = [span(n, span_id=b"" if n % 2 else span_id(n)) for n in range(1, 201)]
    reply = bench.send(traces(*mixed))
    assert ExportTraceServiceResponse.FromString(reply.body).partial_success.rejected_spans == 100
    assert [s.name for s in bench.spans()] == [f"span {n}" for n in range(2, 201, 2)]


@pytest.mark.parametrize(
    ("parent", "kept", "marked"),
    [(b"", b"", False), (bytes(8), b"", False), (b"\1" * 7, b"", True), (b"\1" * 8, b"\1" * 8, False)],
)
def test_parents(bench: Bench, parent: bytes, kept: bytes, marked: bool) -> None:
    assert bench.send(traces(span(1, parent_span_id=parent))).http_status == 200
    (one,) = bench.spans()
    assert one.parent_span_id == kept
    assert (MARK in [a.key for a in one.attributes]) == marked


def test_a_link_with_a_bad_id_is_left_out_and_its_span_kept(bench: Bench) -> None:
    one = span(1)
    for trace_id, its_id in ((TRACE, span_id(5)), (b"\1", span_id(5)), (TRACE, bytes(8)), (b"", b"")):
        one.links.add(trace_id=trace_id, span_id=its_id)
    assert bench.send(traces(one)).http_status == 200
    (kept,) = bench.spans()
    assert ([link.span_id for link in kept.links], kept.dropped_links_count) == ([span_id(5)], 3)
    assert bench.count("repaired", reason="invalid_link") == 3


LOG_IDS = [
    ((TRACE, span_id(1)), (TRACE, span_id(1)), 0),
    ((b"", b""), (b"", b""), 0),
    ((b"\1" * 5, b""), (b"", b""), 1),
    ((bytes(16), bytes(8)), (b"", b""), 0),  # the way some emitters say: none
    ((b"", span_id(1)), (b"", b""), 0),
    ((TRACE, b"\1"), (TRACE, b""), 1),
    ((TRACE, bytes(8)), (TRACE, b""), 0),
]


@pytest.mark.parametrize(("ids", "kept", "repaired"), LOG_IDS)
def test_a_log_with_bad_ids_is_kept_without_them(bench: Bench, ids: Any, kept: Any, repaired: int) -> None:
    assert bench.send(logs(log(trace_id=ids[0], span_id=ids[1])), "logs").http_status == 200
    (one,) = bench.logs()
    assert (one.trace_id, one.span_id) == kept
    assert bench.count("repaired", reason="invalid_id") == repaired


# --- the wrong signal ---


def test_logs_posted_as_traces_are_no_spans(bench: Bench) -> None:
    for body in (logs(log("text", {"k": "v"}, trace_id=TRACE)), logs(log({"a": 1}), log(None, event_name="e"))):
        assert bench.send(body.SerializeToString()).http_status == 400
    assert bench.send(as_json(logs(log())), encoding="json").http_status == 400
    assert bench.spool.stats().entries == 0


def test_spans_posted_as_logs_are_no_logs(bench: Bench) -> None:
    ended = span(1, {"k": "v"})
    ended.status.code = 1
    for body in (traces(ended), traces(span(1), span(2, name="\x08\x01"))):
        assert bench.send(body.SerializeToString(), "logs").http_status == 400
    assert bench.send(as_json(traces(span(1))), "logs", "json").http_status == 400
    assert bench.spool.stats().entries == 0


def test_logs_with_no_time_at_all_are_still_logs(bench: Bench) -> None:
    reply = bench.send(logs(log("x", time_unix_nano=0, observed_time_unix_nano=0), log("")), "logs")
    assert reply.body == ExportLogsServiceResponse().SerializeToString()
    assert len(bench.logs()) == 2


# --- limits ---


def test_too_many_records_cost_only_those_beyond(bench_with: Any) -> None:
    bench = bench_with(Limits(max_records=5))
    request = traces(*(span(n) for n in range(5, 9)), into=traces(*(span(n) for n in range(1, 5))))
    request.resource_spans[0].scope_spans[0].spans[1].span_id = b""
    reply = bench.send(request)
    partial = ExportTraceServiceResponse.FromString(reply.body).partial_success
    assert partial.rejected_spans == 3
    assert "1 invalid_span_id, 2 too_many" in partial.error_message
    assert [s.name for s in bench.spans()] == [f"span {n}" for n in (1, 3, 4, 5, 6)]
    assert bench.count("refused", signal="traces", reason="too_many") == 2


@pytest.mark.parametrize("bad", [16, 17])
@pytest.mark.parametrize("why", ["invalid", "too_many"])
@pytest.mark.parametrize("encoding", ["protobuf", "json"])
def test_a_repaired_span_keeps_its_mark_however_many_others_are_refused(
    bench_with: Any, encoding: str, why: str, bad: int
) -> None:
    bench = bench_with(Limits(max_attributes=3, max_records=2 if why == "too_many" else 100))
    good = [span(n, {str(k): n for k in range(4)}) for n in (1, 2)]
    refused = [span(0, span_id=bytes(8)) if why == "invalid" else span(10 + n) for n in range(bad)]
    whole = traces(*good, *refused) if why == "too_many" else traces(good[0], *refused, good[1])
    body = whole.SerializeToString() if encoding == "protobuf" else as_json(whole)
    if encoding == "protobuf":  # one string is no UTF-8
        body = body.replace(b"span 2", b"span \xff")
    bench.send(body, encoding=encoding)
    kept = bench.spans()
    marks = [[v.string_value for v in one.attributes[-1].value.array_value.values] for one in kept]
    assert [one.attributes[-1].key for one in kept] == [MARK, MARK]
    assert marks[0] == ["truncated attributes (to 3)"]
    assert marks[1] == ["invalid_unicode name"] * (encoding == "protobuf") + ["truncated attributes (to 3)"]


def test_too_many_attributes_are_cut_counted_and_marked(bench_with: Any) -> None:
    bench = bench_with(Limits(max_attributes=3))
    many = {str(n): n for n in range(5)}
    one = span(1, many, dropped_attributes_count=2)
    one.events.add().attributes.extend(span(1, many).attributes)
    one.links.add(trace_id=TRACE, span_id=span_id(1)).attributes.extend(span(1, many).attributes)
    bench.send(traces(one, span(2, {"few": 1})))
    cut, whole = bench.spans()
    assert [a.key for a in cut.attributes] == ["0", "1", "2", MARK]
    assert cut.dropped_attributes_count == 4
    assert [len(cut.events[0].attributes), cut.events[0].dropped_attributes_count] == [3, 2]
    assert [len(cut.links[0].attributes), cut.links[0].dropped_attributes_count] == [3, 2]
    assert [a.key for a in whole.attributes] == ["few"]
    assert bench.count("repaired", reason="truncated") == 3
    bench.send(logs(log("x", many)), "logs")
    assert bench.count("repaired", reason="truncated") == 4


@pytest.mark.parametrize("encoding", ["protobuf", "json"])
def test_a_huge_value_is_cut_and_marked_and_its_neighbours_are_not(bench_with: Any, encoding: str) -> None:
    bench = bench_with(Limits(max_value_bytes=1000))
    huge = "ä" * 600  # 1,200 bytes
    request = traces(
        span(1, {"ok": "x" * 1000, "huge": huge, "list": [{"deep": b"y" * 1001}]}, name=huge),
        span(2, {"fine": "ä" * 500}),
        resource={"service.name": "demo", "env": huge},
    )
    assert bench.send(request, encoding=encoding).http_status == 200
    one, two = bench.spans()
    values = {a.key: a.value for a in one.attributes}
    assert values["ok"].string_value == "x" * 1000
    assert values["huge"].string_value == one.name == "ä" * 500
    assert values["list"].array_value.values[0].kvlist_value.values[0].value.bytes_value == b"y" * 1000
    assert [v.string_value for v in values[MARK].array_value.values] == [
        "truncated name (1200 bytes)",
        "truncated attributes.huge (1200 bytes)",
        "truncated attributes.list.deep (1001 bytes)",
    ]
    assert two == span(2, {"fine": "ä" * 500})
    assert bench.count("repaired", reason="truncated") == 4


def test_a_reply_stays_within_its_limit_with_the_right_count(bench_with: Any) -> None:
    for encoding in ("protobuf", "json"):
        bench = bench_with(Limits(max_response_bytes=200))
        reply = bench.send(traces(span(1), *(span(n, span_id=b"") for n in range(500))), encoding=encoding)
        assert len(reply.body) <= 200
        if encoding == "json":
            assert json.loads(reply.body)["partialSuccess"]["rejectedSpans"] == "500"
        else:
            assert ExportTraceServiceResponse.FromString(reply.body).partial_success.rejected_spans == 500


# --- projects and principals ---


def test_the_resource_names_the_project_else_the_default(bench: Bench) -> None:
    bench.send(traces(span(1), resource={"passhat.project": "shop"}))
    bench.send(traces(span(2), resource={"passhat.project": ""}))
    bench.send(traces(span(3), resource={"passhat.project": 7}))
    assert [e.project for e in bench.entries()] == ["shop", "default", "default"]


@pytest.mark.parametrize("encoding", ["protobuf", "json"])
def test_a_request_of_several_projects_is_split_and_nothing_is_lost(bench: Bench, encoding: str) -> None:
    request = traces(span(1), resource={"passhat.project": "a"})
    traces(span(2), resource={"x": 1}, into=request)
    traces(span(3), resource={"passhat.project": "a"}, into=request)
    traces(span(4), resource={"passhat.project": "b"}, into=request)
    assert bench.send(request, encoding=encoding).http_status == 200
    split = {e.project: ExportTraceServiceRequest.FromString(e.payload) for e in bench.entries()}
    names = {p: [s.name for g in r.resource_spans for s in g.scope_spans[0].spans] for p, r in split.items()}
    assert names == {"a": ["span 1", "span 3"], "default": ["span 2"], "b": ["span 4"]}


def test_the_tokens_project_wins(bench_with: Any) -> None:
    bench = bench_with(authorize=lambda token: Principal("ci", project="ci"))
    body = traces(span(1), resource={"passhat.project": "shop"}, into=traces(span(2))).SerializeToString()
    bench.send(body)
    assert [(e.project, e.payload) for e in bench.entries()] == [("ci", body)]


def test_who_may_not_send_is_refused_before_anything_is_decoded(bench_with: Any) -> None:
    def authorize(token: str | None) -> Principal:
        if token is None:
            raise Unauthenticated("a bearer token is required")
        if token != "right":
            raise Forbidden("this token lacks the scope ingest")
        return Principal()

    bench = bench_with(authorize=authorize)
    replies = [bench.send(b"garbage", token=token) for token in (None, "other", "right")]
    assert [(r.http_status, r.grpc_code) for r in replies] == [
        (401, "UNAUTHENTICATED"),
        (403, "PERMISSION_DENIED"),
        (400, "INVALID_ARGUMENT"),
    ]
    assert bench.count("refused", signal="traces", reason="unauthenticated") == 1


def test_own_telemetry_is_ignored_and_counted(bench: Bench) -> None:
    own = traces(span(1), resource={"service.name": "passhat"}, scope="passhat.pipeline")
    assert bench.send(own).body == b""
    assert bench.spool.stats().entries == 0
    bench.send(traces(span(2), resource={"service.name": "passhat"}, scope="other", into=own))
    bench.send(traces(span(3), resource={"service.name": "mine"}, scope="passhat.pipeline"))
    assert [s.name for s in bench.spans()] == ["span 2", "span 3"]
    assert bench.count("refused", signal="traces", reason="own_telemetry") == 2


def test_redaction_runs_before_the_spool(bench_with: Any) -> None:
    def redact(request: Any, wire: bytes, signal: str) -> dict[str, int]:
        assert (request.SerializeToString(), signal) == (wire, "traces")
        found = 0
        for group in request.resource_spans:
            for one in group.scope_spans[0].spans:
                for attribute in one.attributes:
                    if attribute.value.string_value.startswith("sk-"):
                        attribute.value.string_value, found = "[secret]", found + 1
        return {"openai": found}

    bench = bench_with(redact=redact)
    bench.send(traces(span(1, {"key": "sk-canary", "b": "c"})))
    assert b"sk-canary" not in bench.entries()[0].payload
    assert bench.spans()[0] == span(1, {"key": "[secret]", "b": "c"})
    assert bench.count("redacted", kind="openai") == 1


def test_a_redactor_that_breaks_stores_nothing_and_asks_for_a_retry(bench_with: Any) -> None:
    def redact(request: Any, wire: bytes, signal: str) -> dict[str, int]:
        raise ValueError("sk-canary")

    bench = bench_with(redact=redact)
    assert bench.send(traces(span(1))).http_status == 503
    assert bench.spool.stats().entries == 0


# --- faults that are ours ---


def test_an_internal_error_before_the_spool_is_retryable_and_says_nothing_of_the_data(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(request: Any, *_: Any) -> Any:
        raise RuntimeError(request.resource_spans[0].scope_spans[0].spans[0].name)

    monkeypatch.setattr("collector.receive.otlp.check", broken)
    with caplog.at_level(logging.ERROR):
        reply = bench.send(traces(span(1, name="canary")))
    assert (reply.http_status, reply.grpc_code, reply.retry_after_s) == (503, "UNAVAILABLE", 1)
    assert "RuntimeError" in caplog.text
    assert "canary" not in caplog.text + reply.message


def test_an_internal_error_after_the_spool_is_a_success(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError

    monkeypatch.setattr(bench.receiver.clients, "accepted", broken)
    assert bench.send(traces(span(1))).http_status == 200
    assert len(bench.spans()) == 1


def test_a_full_spool_is_retryable_in_every_form(bench: Bench) -> None:
    bench.spool.max_bytes = 0
    reply = bench.send(traces(span(1), span(2)))
    found, info = Status.FromString(reply.body), RetryInfo()
    assert (reply.http_status, reply.grpc_code, reply.retry_after_s, found.code) == (503, "UNAVAILABLE", 1, 14)
    assert found.details[0].Unpack(info)
    assert info.retry_delay.seconds == 1
    shown = json.loads(bench.send(traces(span(1)), encoding="json").body)
    assert shown["details"][0] == {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1s"}
    assert bench.count("refused", signal="traces", reason=SpoolFull.reason) == 3
    assert bench.count("accepted", signal="traces") == 0


def test_a_spool_that_hangs_is_answered_in_time_and_what_waits_is_taken_back(bench_with: Any) -> None:
    bench = bench_with(Limits(ack_timeout_s=0.1))
    with slow_disk(bench.spool):
        first = bench.spool.append("p", "traces", b"", 0)
        while not first.running():  # until the writer hangs at it
            assert not first.done()
        reply = bench.send(traces(span(1)))
    assert (reply.http_status, "did not answer" in reply.message) == (503, True)
    assert bench.send(traces(span(2))).http_status == 200
    assert [s.name for s in bench.spans()] == ["span 2"]  # span 1 had not been written yet


def test_refusals_are_logged_once_a_minute_not_a_thousand_times(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        for _ in range(50):
            bench.send(traces(span(1), span(2, span_id=b"")))
    assert len([r for r in caplog.records if "refused" in r.message]) == 1


def test_clients_are_remembered_with_what_became_of_their_spans(bench: Bench) -> None:
    bench.send(traces(span(1), span(2, span_id=b""), resource={"service.name": "shop"}))
    bench.send(traces(span(1, trace_id=b""), resource={"service.name": "bad", "passhat.project": "p"}))
    bench.send(b"garbage")
    seen = {(c.project, c.service): (c.accepted, c.refused, c.last_reason) for c in bench.receiver.clients.seen()}
    assert seen == {
        ("default", "shop"): (1, 1, "invalid_span_id"),
        ("p", "bad"): (0, 1, "bad_data"),
        ("", ""): (0, 1, "bad_data"),
    }


def test_times_of_any_value_are_kept_as_sent(bench: Bench) -> None:
    odd = [(0, 0), (START, START - 1), (2**64 - 1, 2**64 - 1), (2**63, 1)]
    made = [span(i + 1, start_time_unix_nano=a, end_time_unix_nano=b) for i, (a, b) in enumerate(odd)]
    for encoding in ("protobuf", "json"):
        assert bench.send(traces(*made), encoding=encoding).body in (b"", b"{}")
    assert [(s.start_time_unix_nano, s.end_time_unix_nano) for s in bench.spans()] == odd * 2


def test_json_of_a_request_with_marks_equals_its_protobuf(bench: Bench) -> None:
    root = as_dict(traces(span(1, {"k": "v"}, parent_span_id=b"\1" * 8)))
    root["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["parentSpanId"] = "zz"
    bench.send(json.dumps(root).encode(), encoding="json")
    bench.send(traces(span(1, {"k": "v"}, parent_span_id=b"?")))
    first, second = bench.spans()
    assert first == second
    assert first.attributes[-1].key == MARK
