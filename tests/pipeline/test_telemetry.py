"""B198: what the collector says of itself goes to another collector, never to itself, and is never in anyone's way."""

from __future__ import annotations

import socket
import time
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.config import load
from collector.errors import UsageError
from collector.telemetry import refuse_own
from tests.collector.receive.build import span, traces
from tests.collector.receive.serving import listening
from tests.support.serving import Serving, until
from tests.support.sink import Sink, sink

PATIENCE_S = 90.0
AGENT = {"gen_ai.operation.name": "invoke_agent"}


def send(serving: Serving, number: int) -> None:
    body = traces(span(1, AGENT, trace_id=number.to_bytes(16, "big"))).SerializeToString()
    assert serving.post_traces(body, "application/x-protobuf").status_code == 200


def telemetry(url: str) -> dict[str, Any]:
    return {"telemetry": {"endpoint": url, "interval_s": 0.5}}


def test_counters_go_out_as_metrics_and_batches_as_traces_and_a_receiver_in_trouble_costs_nothing(
    tmp_path: Path,
) -> None:
    with sink() as kept, Serving(tmp_path, telemetry(kept.url)) as serving:
        send(serving, 1)
        until(
            lambda: told(kept),
            lambda seen: (
                {"passhat_accepted", "passhat_stored", "passhat_graded_runs", "passhat_ack_seconds_count"} <= seen
            ),
            PATIENCE_S,
        )
        until(lambda: spans_of(kept), lambda names: {"store batch", "grade batch"} <= names, PATIENCE_S)
        kept.refuse = 503
        for number in range(2, 5):
            send(serving, number)
        until(lambda: len(kept.refused), lambda count: count > 0, PATIENCE_S)
        serving.drained()
        until(lambda: serving.get("/api/v1/status")["health"], lambda health: health == "ok")
        began = time.monotonic()
        assert serving.stop() == 0
        assert time.monotonic() - began < 20


def told(kept: Sink) -> set[str]:
    """Names of metrics that have counted something."""
    return {
        metric.name
        for post in list(kept.posts)
        if post.path == "/v1/metrics"
        for group in ExportMetricsServiceRequest.FromString(post.body).resource_metrics
        for scope in group.scope_metrics
        for metric in scope.metrics
        if any(point.as_double or point.as_int for point in metric.sum.data_points)
    }


def spans_of(kept: Sink) -> set[str]:
    return {
        span.name
        for post in list(kept.posts)
        if post.path == "/v1/traces"
        for group in ExportTraceServiceRequest.FromString(post.body).resource_spans
        for scope in group.scope_spans
        for span in scope.spans
    }


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
def test_another_passhat_leaves_it_out(tmp_path: Path, protocol: str) -> None:
    """So does the same one, should its telemetry come back to it by a way that nobody could see."""
    from collector.metrics import Metrics
    from collector.telemetry import Telemetry

    with listening(tmp_path) as at:
        endpoint = at.http if protocol == "http/protobuf" else f"http://{at.grpc}"
        given = {"telemetry.endpoint": endpoint, "telemetry.protocol": protocol}
        config = load(env={}, overrides=given).telemetry
        own = Telemetry(config, Metrics(), (), "1")
        with own.trace("store batch", spans=1):
            pass
        own.stop()
        until(lambda: at.count("refused", signal="traces", reason="own_telemetry"), lambda count: count == 1)
        assert at.spans() == []


def test_it_is_off_by_default_and_its_own_address_is_refused() -> None:
    assert load(env={}).telemetry.endpoint is None
    own = ("127.0.0.1:4317", "0.0.0.0:4318", "[::1]:8317")
    here = socket.gethostbyname(socket.gethostname())
    ours = ("http://127.0.0.1:4317", "http://localhost:4317", f"http://{here}:4318", "http://127.0.0.1:4318")
    for endpoint in ours:
        with pytest.raises(UsageError, match="the collector itself"):
            refuse_own(endpoint, own)
    # Ports of OTLP are the same everywhere: another machine's is no reason to refuse.
    for endpoint in (
        "http://127.0.0.1:14318",
        "http://192.0.2.7:4318",
        "http://192.0.2.7:4317",
        "http://nowhere.invalid",
    ):
        refuse_own(endpoint, own)


def test_a_misspelt_key_is_told(tmp_path: Path) -> None:
    file = tmp_path / "passhat.yaml"
    file.write_text("telemetry:\n  endpont: http://127.0.0.1:14318\n")
    with pytest.raises(UsageError, match=r"passhat.yaml:2.*endpont") as caught:
        load(file, {})
    assert "endpoint" in f"{caught.value} {caught.value.hint}"
