"""Stock exporters that send runs without pause, for tests of what becomes of what was acknowledged."""

from __future__ import annotations

import threading
from collections.abc import Callable

from opentelemetry.exporter.otlp.json.http.trace_exporter import OTLPSpanExporter as JsonExporter
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

from tests.support.serving import Serving, until

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


class Senders:
    """The four of `EXPORTERS`, each in a thread, a span a request, until `stop`."""

    def __init__(self, at: Serving) -> None:
        self.recorders = {name: Recorder(make(at)) for name, make in EXPORTERS.items()}
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=_send, args=(recorder, name, self._stop), daemon=True)
            for name, recorder in self.recorders.items()
        ]
        for thread in self._threads:
            thread.start()

    def wait(self, least: int) -> None:
        """Until each was told of so many spans that they are safe."""
        until(lambda: min(len(one.acknowledged) for one in self.recorders.values()), lambda count: count >= least, 90.0)

    def __enter__(self) -> Senders:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(30)
            assert not thread.is_alive()

    @property
    def acknowledged(self) -> set[str]:
        """trace id/span id of all that is safe, as the exporters were told."""
        return set().union(*(one.acknowledged for one in self.recorders.values()))


SPANS = "SELECT concat(trace_id, '/', span_id) AS key, count() AS n FROM passhat.spans FINAL GROUP BY key"


def stored_once(serving: Serving) -> set[str]:
    """Ids of all stored spans, each there once; the server must have stopped."""
    rows = serving.query(SPANS)
    assert {int(row["n"]) for row in rows} <= {1}
    return {row["key"] for row in rows}
