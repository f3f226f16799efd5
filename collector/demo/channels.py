"""The three stock OTLP exporters the demo sends through, each with providers of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import opentelemetry.exporter.otlp.json.http._log_exporter as json_logs
import opentelemetry.exporter.otlp.json.http.trace_exporter as json_spans
import opentelemetry.exporter.otlp.proto.grpc._log_exporter as grpc_logs
import opentelemetry.exporter.otlp.proto.grpc.trace_exporter as grpc_spans
import opentelemetry.exporter.otlp.proto.http._log_exporter as http_logs
import opentelemetry.exporter.otlp.proto.http.trace_exporter as http_spans
from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.context import Context
from opentelemetry.sdk._logs import LoggerProvider, ReadableLogRecord
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor, LogRecordExporter, LogRecordExportResult
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import Tracer
from opentelemetry.util.types import AnyValue

EXPORT_TIMEOUT_S = 10
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "grpc_proxy")


class Sent:
    """What one channel got acknowledged and what not."""

    def __init__(self) -> None:
        self.acknowledged = 0
        self.failed = 0

    def count(self, size: int, *, ok: bool) -> None:
        self.acknowledged += size if ok else 0
        self.failed += 0 if ok else size


class CountedSpans(SpanExporter):
    """A stock span exporter, with its answers counted: a batch processor keeps them to itself."""

    def __init__(self, stock: SpanExporter, sent: Sent) -> None:
        self._stock = stock
        self._sent = sent

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = self._stock.export(spans)
        self._sent.count(len(spans), ok=result is SpanExportResult.SUCCESS)
        return result

    def shutdown(self) -> None:
        self._stock.shutdown()


class CountedLogs(LogRecordExporter):
    """A stock log exporter, with its answers counted."""

    def __init__(self, stock: LogRecordExporter, sent: Sent) -> None:
        self._stock = stock
        self._sent = sent

    def export(self, batch: Sequence[ReadableLogRecord]) -> LogRecordExportResult:
        result = self._stock.export(batch)
        self._sent.count(len(batch), ok=result is LogRecordExportResult.SUCCESS)
        return result

    def force_flush(self, timeout_millis: int = 10_000) -> bool:
        return self._stock.force_flush(timeout_millis)

    def shutdown(self) -> None:
        self._stock.shutdown()  # type: ignore[no-untyped-call]  # the SDK's own signature


class Channel:
    """One way in: a tracer and a logger whose batches leave through one stock exporter pair."""

    def __init__(self, name: str, resource: Resource, spans: SpanExporter, logs: LogRecordExporter) -> None:
        self.name = name
        self.spans, self.logs = Sent(), Sent()
        self._traces = TracerProvider(ALWAYS_ON, resource, shutdown_on_exit=False)
        self._traces.add_span_processor(BatchSpanProcessor(CountedSpans(spans, self.spans), max_export_batch_size=64))
        self._logs = LoggerProvider(resource, shutdown_on_exit=False)
        self._logs.add_log_record_processor(BatchLogRecordProcessor(CountedLogs(logs, self.logs)))
        self.tracer: Tracer = self._traces.get_tracer("passhat.demo")
        self._logger = self._logs.get_logger("passhat.demo")

    def evaluation(self, context: Context, result: str, time_ns: int) -> None:
        """A `gen_ai.evaluation.result` event about the run whose root is in `context`."""
        attributes: dict[str, AnyValue] = {
            "gen_ai.evaluation.name": "outcome",
            "gen_ai.evaluation.score.label": result,
            "gen_ai.evaluation.score.value": 1.0 if result == "pass" else 0.0,
            "passhat.outcome.source": "environment",
        }
        self._logger.emit(
            LogRecord(
                timestamp=time_ns,
                context=context,
                severity_number=SeverityNumber.INFO,
                attributes=attributes,
                event_name="gen_ai.evaluation.result",
            )
        )

    def close(self) -> None:
        """Send what is waiting, then shut the exporters down."""
        self._traces.shutdown()
        self._logs.shutdown()


@contextmanager
def stock_channels(grpc: str, http: str, resource: dict[str, str]) -> Iterator[list[Channel]]:
    """gRPC, HTTP with protobuf and HTTP with JSON, to the collector at these addresses; flushed at the end."""
    with plain_environment():
        made = Resource(dict(resource))
        url, timeout = f"http://{http}", EXPORT_TIMEOUT_S
        channels = [
            Channel(
                "grpc", made,
                grpc_spans.OTLPSpanExporter(endpoint=f"http://{grpc}", insecure=True, timeout=timeout),
                grpc_logs.OTLPLogExporter(endpoint=f"http://{grpc}", insecure=True, timeout=timeout),
            ),
            Channel(
                "http/protobuf", made,
                http_spans.OTLPSpanExporter(endpoint=f"{url}/v1/traces", timeout=timeout),
                http_logs.OTLPLogExporter(endpoint=f"{url}/v1/logs", timeout=timeout),
            ),
            Channel(
                "http/json", made,
                json_spans.OTLPSpanExporter(endpoint=f"{url}/v1/traces", timeout=timeout),
                json_logs.OTLPLogExporter(endpoint=f"{url}/v1/logs", timeout=timeout),
            ),
        ]  # fmt: skip
        try:
            yield channels
        finally:
            for channel in channels:
                channel.close()


@contextmanager
def plain_environment() -> Iterator[None]:
    """Without OTEL_* and proxy variables: those are for the user's programs and would send the demo elsewhere."""
    kept = {key: value for key, value in os.environ.items() if key.startswith("OTEL_") or key.lower() in PROXIES}
    for key in kept:
        del os.environ[key]
    try:
        yield
    finally:
        os.environ.update(kept)
