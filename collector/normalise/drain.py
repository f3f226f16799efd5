"""Spool → store: decode each request, find its facts, insert in batches, then drop it from the spool."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable

import msgspec

from collector.journal import Signal
from collector.metrics import Metrics
from collector.normalise.unpack import Repeated, logs_of, spans_of
from collector.spool import Spool, SpoolEntry
from collector.store.rows import Batch, SpanRow, log_row, span_row
from collector.store.store import Store
from collector.store.writer import Rejected
from collector.telemetry import Trace, untraced
from semconv.resolve import facts_of, facts_of_log
from semconv.words import Words

log = logging.getLogger("passhat.drain")

MAX_ROWS = 10_000
MAX_BYTES = 16 << 20
LINGER_S = 0.5  # a trickle costs two parts a second at most
FIRST_RETRY_S = 0.5
LONGEST_RETRY_S = 30.0
LAST_INSERT_S = 5.0  # an insert that is under way when the time is over is waited for


class Drain:
    """One thread between the spool and the store.

    A request leaves the spool only after its rows are in the store: a crash in between replays it, and the store
    keeps one row a span however often it is replayed.
    """

    def __init__(self, spool: Spool, store: Store, words: Words, metrics: Metrics, stored: Callable[[], None]) -> None:
        self._spool = spool
        self._store = store
        self._words = words
        self._metrics = metrics
        self._stored = stored
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="drain", daemon=True)
        self._done_seq = 0
        self._give_up_at = float("inf")  # monotonic
        self.trace: Trace = untraced
        self.healthy = True
        self.last_error = ""

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout_s: float = 10.0) -> None:
        """Store what is spooled, as far as the time allows, then stop. What is left is replayed at the next start."""
        self._give_up_at = time.monotonic() + timeout_s
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(timeout_s + LAST_INSERT_S)

    def _run(self) -> None:
        while True:
            stopping = self._stop.is_set()
            if time.monotonic() >= self._give_up_at:
                return
            try:
                entries = self._gather(linger_s=0.0 if stopping else LINGER_S)
                if not (self._store_all(entries) if entries else not stopping):
                    return
            except Exception as error:  # a spool that cannot be read: it says so in its own state, and may recover
                self.healthy, self.last_error = False, str(error)[:500]
                log.warning("the spool cannot be read, retried: %s", self.last_error)
                if stopping or self._stop.wait(FIRST_RETRY_S):
                    return

    def _gather(self, linger_s: float) -> list[SpoolEntry]:
        """Requests for one batch: as many as fit when they wait already, else what comes within `linger_s`."""
        if not self._spool.wait(self._done_seq, 0.2):
            return []
        entries = self._read()
        full = len(entries) >= MAX_ROWS or sum(len(entry.payload) for entry in entries) >= MAX_BYTES // 2
        if full or linger_s <= 0:
            return entries
        self._stop.wait(linger_s)
        return self._read()

    def _read(self) -> list[SpoolEntry]:
        return self._spool.read(self._done_seq, max_entries=MAX_ROWS, max_bytes=MAX_BYTES)

    def _store_all(self, entries: list[SpoolEntry]) -> bool:
        """Insert the batch, trying until it is in; false when stopped before that."""
        batch = self._batch(entries)
        retry_s = FIRST_RETRY_S
        while True:
            try:
                self._sift(batch)
                with self.trace("store batch", spans=len(batch.spans), logs=len(batch.logs), requests=len(entries)):
                    self._keep_aside(self._store.insert(batch))
                break
            except Exception as error:  # whatever the store says, the spool still holds the data
                self.healthy, self.last_error = False, str(error)[:500]
                self._metrics.store_errors.labels(type(error).__name__).inc()
                log.warning("store refused %d spans, retry in %.1f s: %s", len(batch.spans), retry_s, self.last_error)
                if self._stop.wait(retry_s * random.uniform(0.5, 1.5)):
                    return False
                retry_s = min(retry_s * 1.5, LONGEST_RETRY_S)
        self.healthy, self.last_error = True, ""
        self._done_seq = entries[-1].seq
        self._spool.discard(self._done_seq)
        self._metrics.stored.labels("traces").inc(len(batch.spans))
        self._metrics.stored.labels("logs").inc(len(batch.logs))
        self._stored()
        return True

    def _keep_aside(self, rejected: list[Rejected]) -> None:
        """Rows no table can hold: said and counted, and kept where a person can look."""
        for one in rejected:
            self._metrics.store_errors.labels("poison_row").inc()
            log.error("a row cannot be stored (%s): kept in the spool's quarantine", one.reason)
            signal: Signal = "traces" if isinstance(one.row, SpanRow) else "logs"
            row = msgspec.json.encode(one.row, enc_hook=repr)
            self._spool.quarantine_row(one.row.project, signal, one.row.received_ns, row, one.reason)

    def _batch(self, entries: list[SpoolEntry]) -> Batch:
        batch = Batch()
        for entry in entries:
            try:
                if entry.signal == "traces":
                    self._add_spans(batch, entry)
                else:
                    self._add_logs(batch, entry)
            except Exception as error:
                # The receiver decoded it once: a damaged file, or a fault of ours. Set aside it can be replayed once
                # that is mended; raised here it would stop everything behind it.
                self._metrics.store_errors.labels(type(error).__name__).inc()
                log.exception("a request cannot be normalised: kept in the spool's quarantine")
                self._spool.quarantine(entry, f"{type(error).__name__}: {error}")
        return batch

    def _sift(self, batch: Batch) -> None:
        """Acknowledged, and of a run that somebody removed, perhaps while the batch waited for the store."""
        for signal, removed in zip(("traces", "logs"), self._store.tombstones.sift(batch), strict=True):
            if removed:
                self._metrics.refused.labels(signal, "removed_run").inc(removed)

    def _add_spans(self, batch: Batch, entry: SpoolEntry) -> None:
        rows, repeated = [], Repeated()
        for span in spans_of(entry.payload, repeated):
            facts = facts_of(span, self._words)
            if facts.operation:
                self._metrics.dialects.labels(facts.dialect).inc()
            else:
                self._metrics.unmapped.inc()
            rows.append(span_row(entry.project, entry.received_ns, span, facts, self._store.generation))
        batch.spans.extend(rows)
        self._metrics.repeated_keys.labels("traces").inc(repeated.keys)

    def _add_logs(self, batch: Batch, entry: SpoolEntry) -> None:
        repeated = Repeated()
        rows = [
            log_row(entry.project, entry.received_ns, record, facts_of_log(record, self._words), self._store.generation)
            for record in logs_of(entry.payload, repeated)
        ]
        batch.logs.extend(rows)
        self._metrics.repeated_keys.labels("logs").inc(repeated.keys)
