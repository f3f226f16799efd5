"""Verdicts out as OTLP through the stock exporters: at least once, in the order they were graded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import grpc
from msgspec import Struct
from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk._logs.export import LogRecordExporter, LogRecordExportResult

from collector.config.keys import ExportConfig
from collector.metrics import Metrics
from collector.outward.events import events_of
from collector.outward.feed import graded_after
from collector.outward.progress import load, save
from collector.outward.ticker import Ticker
from collector.store.store import Store

BATCH_EVENTS = 500
POLL_S = 1.0
FILE = "export.json"


class Refused(Exception):
    """The endpoint did not take a batch."""


class Progress(Struct, frozen=True):
    """How far an endpoint was told: everything graded until `read_to_ns` of the store's clock."""

    endpoint: str
    read_to_ns: int


class Exporter:
    """Tells the configured endpoint of every grading. Raises StoreError when its progress cannot be read."""

    def __init__(self, store: Store, config: ExportConfig, data: Path, metrics: Metrics) -> None:
        self._store, self._config, self._metrics = store, config, metrics
        self._file = data / FILE
        self._exporter = exporter_of(config)
        endpoint = config.endpoint or ""
        known = load(self._file, Progress)
        if known is None or known.endpoint != endpoint:
            known = Progress(endpoint, store.now_ns() - config.since * 1_000_000_000)
            save(self._file, known)
        self._progress = known
        self._ticker = Ticker("export", self._step)
        self.start = self._ticker.start

    def stop(self) -> None:
        """Send no more; what was not sent is sent after the next start."""
        self._ticker.stop()
        self._exporter.shutdown()  # type: ignore[no-untyped-call]

    def status(self) -> dict[str, Any]:
        """Up to when all has been sent, and what stands in the way."""
        return {"sent_to_ns": self._progress.read_to_ns, "error": self._ticker.last_error}

    def _step(self) -> float:
        page = graded_after(self._store, self._progress.read_to_ns)
        events = [event for run in page.runs for event in events_of(run, self._config.statuses)]
        for start in range(0, len(events), BATCH_EVENTS):
            self._send(events[start : start + BATCH_EVENTS])
        if page.read_to_ns != self._progress.read_to_ns:
            self._progress = Progress(self._progress.endpoint, page.read_to_ns)
            save(self._file, self._progress)
        return 0.0 if page.more else POLL_S

    def _send(self, events: list[ReadableLogRecord]) -> None:
        if self._exporter.export(events) is not LogRecordExportResult.SUCCESS:
            self._metrics.exported.labels("refused").inc(len(events))
            raise Refused(f"{len(events)} verdicts were not taken; they are kept")
        self._metrics.exported.labels("sent").inc(len(events))


def exporter_of(config: ExportConfig) -> LogRecordExporter:
    """The stock exporter for the protocol."""
    if config.protocol == "grpc":
        from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter as GrpcExporter

        squeeze = grpc.Compression.Gzip if config.compression == "gzip" else grpc.Compression.NoCompression
        headers = {name.lower(): value for name, value in config.headers.items()}
        return GrpcExporter(config.endpoint, headers=headers, timeout=config.timeout_s, compression=squeeze)
    from opentelemetry.exporter.otlp.proto.http import Compression
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter

    zipped = Compression.Gzip if config.compression == "gzip" else Compression.NoCompression
    return OTLPLogExporter(config.endpoint, headers=config.headers, timeout=config.timeout_s, compression=zipped)
