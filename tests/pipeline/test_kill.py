"""SIGKILL while stock exporters send: what was acknowledged is there once, after a restart."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pytest
from opentelemetry.exporter.otlp.json.http.trace_exporter import OTLPSpanExporter as JsonExporter
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

from tests.support.serving import Serving, until

ROUNDS = 3
OPERATION = "gen_ai.operation.name"
EXPORTERS: dict[str, Callable[[Serving], SpanExporter]] = {
    "grpc": lambda at: GrpcExporter(endpoint=at.grpc, insecure=True, timeout=3),
    "protobuf": lambda at: HttpExporter(endpoint=f"http://{at.http}/v1/traces", timeout=3),
    "json": lambda at: JsonExporter(endpoint=f"http://{at.http}/v1/traces", timeout=3),
    "protobuf again": lambda at: HttpExporter(endpoint=f"http://{at.http}/v1/traces", timeout=3),
}


class Recorder(SpanExporter):
    """Passes on to a stock exporter and remembers the ids it was told are safe."""

    def __init__(self, inner: SpanExporter) -> None:
        self._inner = inner
        self.acknowledged: set[str] = set()

    def export(self, spans: object) -> SpanExportResult:
        result = self._inner.export(spans)  # type: ignore[arg-type]
        if result is SpanExportResult.SUCCESS:
            self.acknowledged.update(_key(span) for span in spans)  # type: ignore[attr-defined]
        return result

    def shutdown(self) -> None:
        self._inner.shutdown()


def _key(span: ReadableSpan) -> str:
    assert span.context is not None
    return f"{span.context.trace_id:032x}/{span.context.span_id:016x}"


def _send(exporter: Recorder, name: str, stop: threading.Event) -> None:
    provider = TracerProvider(resource=Resource({"service.name": f"sender {name}"}), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("test")
    while not stop.is_set():
        agent, tool = {OPERATION: "invoke_agent"}, {OPERATION: "execute_tool", "gen_ai.tool.name": "t"}
        with (
            tracer.start_as_current_span("invoke_agent", attributes=agent),
            tracer.start_as_current_span("execute_tool t", attributes=tool),
        ):
            pass


def _fewest(recorders: Mapping[str, Recorder]) -> int:
    return min(len(recorder.acknowledged) for recorder in recorders.values())


@pytest.mark.parametrize("wait_for_store", [True, False], ids=["under load", "between acknowledge and store"])
def test_every_acknowledged_span_is_there_once_after_sigkill(tmp_path: Path, wait_for_store: bool) -> None:
    serving = Serving(tmp_path)
    acknowledged: set[str] = set()
    for _ in range(ROUNDS):
        serving.start()
        recorders = {name: Recorder(make(serving)) for name, make in EXPORTERS.items()}
        stop = threading.Event()
        threads = [threading.Thread(target=_send, args=(r, name, stop)) for name, r in recorders.items()]
        for thread in threads:
            thread.start()
        until(partial(_fewest, recorders), lambda least: least >= 20)
        if wait_for_store:
            until(lambda: serving.get("/api/v1/status")["stored"].get("traces", 0), lambda stored: stored > 0)
        serving.kill()
        stop.set()
        for thread in threads:
            thread.join(30)
            assert not thread.is_alive()
        acknowledged.update(*(r.acknowledged for r in recorders.values()))

    with serving:
        serving.drained()
        runs = serving.get("/api/v1/runs", limit=1000)["runs"]
        assert serving.stop() == 0
    sql = "SELECT concat(trace_id, '/', span_id) AS key, count() AS n FROM passhat.spans FINAL GROUP BY key"
    stored = {row["key"]: int(row["n"]) for row in serving.query(sql)}
    assert acknowledged <= stored.keys()
    assert set(stored.values()) == {1}
    assert len(runs) == len({run["run_id"] for run in runs})
    assert {run["run_id"] for run in runs} <= {key.split("/")[0] for key in stored}
