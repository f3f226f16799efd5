"""Stock OpenTelemetry exporters against live listeners, and what is left after SIGKILL."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from opentelemetry._logs import SeverityNumber
from opentelemetry.exporter.otlp.json.http.trace_exporter import OTLPSpanExporter as JsonSpans
from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter as GrpcLogs
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcSpans
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter as HttpLogs
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpSpans
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from collector.normalise.unpack import spans_of
from collector.spool import Spool
from tests.collector.receive.serving import Listeners

Endpoints = Listeners | Any  # whatever has `grpc` and `http`
EXPORTERS: dict[str, Callable[[Endpoints, float], SpanExporter]] = {
    "grpc": lambda to, seconds: GrpcSpans(endpoint=to.grpc, insecure=True, timeout=seconds),
    "http protobuf": lambda to, seconds: HttpSpans(endpoint=f"{to.http}/v1/traces", timeout=seconds),
    "http protobuf gzip": lambda to, seconds: HttpSpans(
        endpoint=f"{to.http}/v1/traces", timeout=seconds, compression=Compression.Gzip
    ),
    "http json": lambda to, seconds: JsonSpans(endpoint=f"{to.http}/v1/traces", timeout=seconds),
}


def made_spans(count: int, name: str = "span") -> Sequence[ReadableSpan]:
    memory = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({"service.name": "stock"}))
    provider.add_span_processor(SimpleSpanProcessor(memory))
    tracer = provider.get_tracer("tests")
    for i in range(count):
        with tracer.start_as_current_span(f"{name} {i}", attributes={"i": i, "list": ["a", "b"]}) as span:
            span.add_event("event", {"x": 0.5})
    return memory.get_finished_spans()


def key(span: ReadableSpan) -> tuple[str, str]:
    assert span.context is not None
    return format(span.context.trace_id, "032x"), format(span.context.span_id, "016x")


@pytest.mark.parametrize("kind", EXPORTERS)
def test_a_stock_exporter_is_understood(listeners: Listeners, kind: str) -> None:
    exporter = EXPORTERS[kind](listeners, 10)
    spans = made_spans(600)
    assert exporter.export(spans) == SpanExportResult.SUCCESS
    exporter.shutdown()
    found = {(s.trace_id, s.span_id): s for s in listeners.spans()}
    assert set(found) == {key(s) for s in spans}
    one = found[key(spans[7])]
    assert (one.name, one.attributes, one.resource.attributes["service.name"]) == (
        "span 7",
        {"i": 7, "list": ["a", "b"]},
        "stock",
    )
    assert (one.start_ns, one.events[0].attributes) == (spans[7].start_time, {"x": 0.5})


@pytest.mark.parametrize("kind", ["grpc", "http"])
def test_stock_log_exporters_are_understood(listeners: Listeners, kind: str) -> None:
    exporter: Any = (
        GrpcLogs(endpoint=listeners.grpc, insecure=True)
        if kind == "grpc"
        else HttpLogs(endpoint=f"{listeners.http}/v1/logs")
    )
    provider = LoggerProvider(resource=Resource({"service.name": "stock"}))
    provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    logger = provider.get_logger("tests")
    logger.emit(severity_number=SeverityNumber.INFO, body={"role": "user"}, event_name="gen_ai.user.message")
    provider.shutdown()
    (one,) = listeners.logs()
    assert (one.event_name, one.body, one.severity_number) == ("gen_ai.user.message", {"role": "user"}, 9)


@pytest.mark.parametrize("kind", EXPORTERS)
def test_a_stock_exporter_outlives_a_spool_that_is_full_for_a_while(listeners: Listeners, kind: str) -> None:
    listeners.spool.max_bytes, enough = 0, listeners.spool.max_bytes
    exporter = EXPORTERS[kind](listeners, 10)
    relief = threading.Timer(2.5, lambda: setattr(listeners.spool, "max_bytes", enough))
    relief.start()
    spans = made_spans(20)
    assert exporter.export(spans) == SpanExportResult.SUCCESS
    exporter.shutdown()
    relief.join()
    assert {(s.trace_id, s.span_id) for s in listeners.spans()} == {key(s) for s in spans}
    assert listeners.count("refused", signal="traces", reason="spool_full") >= 20


class Child:
    """A receiver in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.collector.receive.child", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        where = json.loads(self.process.stdout.readline())
        self.http, self.grpc = where["http"], where["grpc"]

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)

    def close(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[], Child]]:
    children: list[Child] = []

    def started() -> Child:
        children.append(Child(tmp_path))
        return children[-1]

    yield started
    for child in children:
        if child.process.poll() is None:
            child.kill()
        child.close()


def test_sigkill_while_four_stock_exporters_send_loses_nothing_acknowledged(
    tmp_path: Path, start: Callable[[], Child]
) -> None:
    acknowledged: set[tuple[str, str]] = set()
    for _ in range(3):
        child = start()
        killed = threading.Event()

        def send(kind: str, child: Child = child, killed: threading.Event = killed) -> None:
            exporter = EXPORTERS[kind](child, 2)
            while not killed.is_set():
                spans = made_spans(30, kind)
                if exporter.export(spans) != SpanExportResult.SUCCESS:
                    break
                acknowledged.update(key(s) for s in spans)
            exporter.shutdown()

        before = len(acknowledged)
        senders = [threading.Thread(target=send, args=(kind,)) for kind in EXPORTERS]
        for sender in senders:
            sender.start()
        while len(acknowledged) < before + 2000:
            assert any(sender.is_alive() for sender in senders)
            killed.wait(0.01)
        child.kill()
        killed.set()
        for sender in senders:
            sender.join(30)
    spool = Spool(tmp_path / "spool", min_free_bytes=0)
    try:
        entries = spool.read(0, max_entries=10**6, max_bytes=1 << 40)
    finally:
        spool.close()
    stored = {(s.trace_id, s.span_id) for entry in entries for s in spans_of(entry.payload)}
    assert len(acknowledged) >= 6000
    assert acknowledged <= stored
