"""However a run arrives (order, repetition, encoding, transport, late parts), it is the same run."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Iterator
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any

import grpc
import httpx
import msgspec
import pytest
from google.protobuf.json_format import MessageToDict
from msgspec.structs import replace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import TraceServiceStub
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from collector.assemble import assemble
from collector.normalise.unpack import spans_of
from collector.receive.findings import Findings
from collector.receive.otlp_json import decode as decode_json
from semconv.facts import SpanFacts
from tests.collector.assemble.recorded import of_spans
from tests.support.serving import Serving, until

CAPTURE = Path(__file__).resolve().parents[1] / "captures" / "edge_pydantic_ai_split"
IDS = ("traceId", "spanId", "parentSpanId")


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with Serving(tmp_path_factory.mktemp("arrival")) as running:
        yield running


def requests(project: str) -> list[ExportTraceServiceRequest]:
    """The eleven requests of one recorded run, one span each, in a project of their own."""
    read = [ExportTraceServiceRequest.FromString(path.read_bytes()) for path in sorted(CAPTURE.glob("*_traces.pb"))]
    for request in read:
        for part in request.resource_spans:
            part.resource.attributes.add(key="passhat.project").value.string_value = project
    return read


def as_json(request: ExportTraceServiceRequest) -> bytes:
    """OTLP/JSON, whose ids are hex where protobuf's own JSON mapping writes base64."""

    def hexed(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: base64.b64decode(value).hex() if key in IDS else hexed(value) for key, value in node.items()}
        return [hexed(item) for item in node] if isinstance(node, list) else node

    return json.dumps(hexed(MessageToDict(request, use_integers_for_enums=True))).encode()


def send(serving: Serving, request: ExportTraceServiceRequest, how: str) -> None:
    if how == "grpc":
        with grpc.insecure_channel(serving.grpc) as channel:
            TraceServiceStub(channel).Export(request, timeout=10)
        return
    body, kind = (as_json(request), "json") if how == "json" else (request.SerializeToString(), "x-protobuf")
    assert serving.post_traces(body, f"application/{kind}").status_code == 200


def closed(serving: Serving, project: str) -> list[dict[str, Any]]:
    return list(
        until(
            lambda: serving.get("/api/v1/runs", project=project)["runs"],
            lambda got: bool(got) and all(run["result"] != "pending" for run in got),
        )
    )


def whole(serving: Serving, project: str) -> dict[str, Any]:
    (run,) = closed(serving, project)
    return dict(serving.get(f"/api/v1/runs/{run['run_id']}", project=project))


def batches(encoding: str, count: int = 5) -> list[list[SpanFacts]]:
    """The recorded run in five batches, each through the receiver's decoder of its encoding."""
    parts = requests("permuted")
    found = []
    for number in range(count):
        together = ExportTraceServiceRequest()
        for part in parts[number::count]:
            together.MergeFrom(part)
        if encoding == "json" or (encoding == "mixed" and number % 2):
            together = decode_json(as_json(together), "traces", Findings())
        found.append(of_spans(spans_of(together.SerializeToString())))
    return found


def test_every_permutation_of_batches_gives_the_same_lines() -> None:
    """All 120 orders of five batches, each batch sent a second time, in each encoding: one run, to the last byte."""
    seen = set()
    for encoding in ("protobuf", "json", "mixed"):
        for order in permutations(batches(encoding)):
            arrived = [one for batch in (*order, *order[::-1]) for one in batch]
            ended = max(one.end_ns for one in arrived)
            stamped = [replace(one, received_ns=ended + at) for at, one in enumerate(arrived)]
            seen.add(msgspec.json.encode(assemble(stamped, closed_by="root")))
    assert len(seen) == 1
    (run,) = assemble(stamped, closed_by="root").runs
    assert (run.span_count, len(run.lines)) == (11, 14)


def test_order_repetition_and_encoding_do_not_matter(serving: Serving) -> None:
    chance = random.Random(7)
    seen = []
    for index, how in enumerate(("grpc", "protobuf", "json", "mixed", "mixed", "one request")):
        project = f"arrival-{index}"
        parts = requests(project)
        if how == "one request":
            together = ExportTraceServiceRequest()
            for part in parts:
                together.MergeFrom(part)
            parts = [together]
        parts += chance.sample(parts, len(parts) // 2)
        chance.shuffle(parts)
        for part in parts:
            send(serving, part, chance.choice(("grpc", "protobuf", "json")) if how == "mixed" else how)
        # A pause between two requests may close the run before all is there: what counts is what it ends with.
        told = until(partial(whole, serving, project), lambda told: told["run"]["span_count"] == 11)
        seen.append((told["lines"], [(v["check_id"], v["status"], v["lines"]) for v in told["verdicts"]]))
    assert all(one == seen[0] for one in seen)
    assert [line["n"] for line in seen[0][0]] == list(range(1, len(seen[0][0]) + 1))


def test_a_late_span_makes_a_new_revision_and_no_second_trial(serving: Serving) -> None:
    late, *parts = requests("late")  # the first request holds the first call: the root is in the last
    for part in parts:
        send(serving, part, "protobuf")
    first = whole(serving, "late")
    send(serving, late, "protobuf")
    second = until(lambda: whole(serving, "late"), lambda told: told["run"]["revision"] > first["run"]["revision"])
    assert second["run"]["span_count"] == first["run"]["span_count"] + 1
    assert len(second["lines"]) >= len(first["lines"])


def test_an_outcome_over_the_api_is_judged_and_the_harness_is_overruled_by_a_human(serving: Serving) -> None:
    for part in requests("outcome"):
        send(serving, part, "protobuf")
    run = whole(serving, "outcome")["run"]
    results = []
    for result, source in (("fail", "harness"), ("pass", "environment"), ("fail", "harness")):
        body = {"run_id": run["run_id"], "project": "outcome", "result": result, "source": source, "reason": source}
        reply = httpx.post(f"http://{serving.web}/api/v1/outcomes", json=body)
        assert reply.status_code in (200, 201, 202), reply.text
        want = "pass" if source == "environment" or results else "fail"
        told = until(lambda: whole(serving, "outcome"), lambda told, want=want: told["run"]["outcome"] == want)
        results.append(told["run"]["outcome"])
    assert results == ["fail", "pass", "pass"]
    assert len(whole(serving, "outcome")["outcomes"]) == 3


def test_an_outcome_may_come_before_its_run(serving: Serving) -> None:
    (trace_id,) = {
        s.trace_id.hex() for r in requests("x") for p in r.resource_spans for q in p.scope_spans for s in q.spans
    }
    body = {"run_id": trace_id, "project": "early", "result": "fail", "source": "environment"}
    assert httpx.post(f"http://{serving.web}/api/v1/outcomes", json=body).status_code == 202
    for part in requests("early"):
        send(serving, part, "protobuf")
    assert whole(serving, "early")["run"]["result"] == "fail"


def test_a_root_that_begins_after_its_run_was_closed_opens_a_new_run(serving: Serving) -> None:
    resource = Resource({"passhat.project": "nightly", "passhat.run.id": "nightly", "service.name": "agent"})

    def run_once() -> None:
        provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        exporter = OTLPSpanExporter(endpoint=f"http://{serving.http}/v1/traces")
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        tracer = provider.get_tracer("test")
        with tracer.start_as_current_span("invoke_agent a", attributes={"gen_ai.operation.name": "invoke_agent"}):
            pass
        provider.shutdown()

    def run_ids() -> list[str]:
        return sorted(run["run_id"] for run in closed(serving, "nightly"))

    run_once()
    assert run_ids() == ["nightly"]
    run_once()
    assert until(run_ids, lambda ids: len(ids) == 2) == ["nightly", "nightly~2"]
    told = serving.get("/api/v1/runs/nightly~2", project="nightly")
    assert "run_id_reused" in told["run"]["flags"]
    for part in requests("two-traces"):  # all in the past: late, not new
        for resource_spans in part.resource_spans:
            resource_spans.resource.attributes.add(key="passhat.run.id").value.string_value = "joined"
        send(serving, part, "protobuf")
    assert [run["run_id"] for run in closed(serving, "two-traces")] == ["joined"]


@pytest.mark.parametrize("first", ["traces", "logs"])
def test_an_evaluation_that_names_only_a_response_reaches_its_run(serving: Serving, first: str) -> None:
    folder = CAPTURE.parent / "handmade_gen_ai_evaluation"
    traces = ExportTraceServiceRequest.FromString((folder / "001_traces.pb").read_bytes())
    logs = ExportLogsServiceRequest.FromString((folder / "002_logs.pb").read_bytes())
    for part in (*traces.resource_spans, *logs.resource_logs):
        part.resource.attributes.add(key="passhat.project").value.string_value = f"evaluation-{first}"
    spans, records = traces.resource_spans[0].scope_spans[0].spans, logs.resource_logs[0].scope_logs[0].log_records
    chat = spans.add(name="chat", span_id=b"chatchat", trace_id=spans[0].trace_id, parent_span_id=spans[0].span_id)
    chat.attributes.add(key="gen_ai.operation.name").value.string_value = "chat"
    chat.attributes.add(key="gen_ai.response.id").value.string_value = f"response-{first}"
    del records[1:]
    records[0].ClearField("trace_id")
    records[0].ClearField("span_id")
    said = {"gen_ai.evaluation.name": "outcome", "gen_ai.response.id": f"response-{first}"}
    for attribute in records[0].attributes:
        if attribute.key in said:
            attribute.value.string_value = said[attribute.key]
    sent = {"traces": traces, "logs": logs}
    for signal in sorted(sent, reverse=first == "traces"):
        reply = httpx.post(
            f"http://{serving.http}/v1/{signal}",
            content=sent[signal].SerializeToString(),
            headers={"Content-Type": "application/x-protobuf"},
        )
        assert reply.status_code == 200
        if signal == first:
            serving.stored_all()
    # The outcome is stored before the run is counted again: both are read.
    told = until(
        partial(whole, serving, f"evaluation-{first}"), lambda told: bool(told["outcomes"] and told["run"]["outcome"])
    )
    assert told["run"]["outcome"] in ("pass", "fail")
    assert told["outcomes"][0]["source"] == "judge"
