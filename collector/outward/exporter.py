"""Verdicts out as OTLP through the stock exporters: at least once, in the order they were graded."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from msgspec import Struct
from opentelemetry.sdk._logs import ReadableLogRecord

from collector.config.keys import ExportConfig
from collector.metrics import Metrics
from collector.outward.endpoint import Endpoint
from collector.outward.events import events_of
from collector.outward.feed import graded_after
from collector.outward.progress import load, save
from collector.outward.ticker import Ticker
from collector.store.store import Store

BATCH_EVENTS = 500
POLL_S = 1.0
FILE = "export.json"

log = logging.getLogger("passhat.outward")


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
        self._to = Endpoint(config)
        self._takes = False  # whether this endpoint has taken anything yet
        self._refused: list[tuple[str, str]] = []  # of this page: which event, and what it was answered
        self._skipped, self._skipped_why = 0, ""
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
        self._to.close()

    def status(self) -> dict[str, Any]:
        """Up to when all has been sent, what stands in the way, and how many were refused for good since the start."""
        skipped = {"skipped": self._skipped, "skipped_why": self._skipped_why}
        return {"sent_to_ns": self._progress.read_to_ns, "error": self._ticker.last_error, **skipped}

    def _step(self) -> float:
        page = graded_after(self._store, self._progress.read_to_ns)
        self._refused.clear()
        events = [event for run in page.runs for event in events_of(run, self._config.statuses)]
        for start in range(0, len(events), BATCH_EVENTS):
            self._send(events[start : start + BATCH_EVENTS])
        self._skip()
        if page.read_to_ns != self._progress.read_to_ns:
            self._progress = Progress(self._progress.endpoint, page.read_to_ns)
            save(self._file, self._progress)
        return 0.0 if page.more else POLL_S

    def _send(self, events: list[ReadableLogRecord]) -> None:
        """Send events; of a batch refused for good each half by itself, until what is refused is one event."""
        answer = self._to.send(events)
        if answer == "taken":
            self._takes = True
            self._metrics.exported.labels("sent").inc(len(events))
        elif answer == "away":
            self._metrics.exported.labels("refused").inc(len(events))
            raise Refused(f"{len(events)} verdicts were not taken ({self._to.why}); they are kept")
        elif len(events) > 1:
            for half in (events[: len(events) // 2], events[len(events) // 2 :]):
                self._send(half)
        else:
            said = events[0].log_record.attributes or {}
            about = f"{said.get('gen_ai.evaluation.name')} of {said.get('passhat.run.id')}"
            self._refused.append((about, self._to.why))

    def _skip(self) -> None:
        """Leave out what the endpoint will never take: one event must not stand before all later ones.

        An endpoint that never took any is a wrong one: then nothing is left out.
        """
        if self._refused and not self._takes:
            raise Refused(f"all {len(self._refused)} verdicts were refused ({self._refused[0][1]}); they are kept")
        for about, why in self._refused:
            self._skipped_why = f"{about}: {why}"
            log.warning("export: left out: %s", self._skipped_why)
        self._skipped += len(self._refused)
        self._metrics.exported.labels("skipped").inc(len(self._refused))
