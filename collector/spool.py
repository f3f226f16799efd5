"""The one thing the receiver waits for: an export request is acknowledged when it is durable here.

Many threads append, one writer thread commits what has gathered meanwhile (group commit), the pipeline reads from the
last discard. So a crash at any moment repeats requests, which the store dedups, and never loses an acknowledged one.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
from collections import deque
from concurrent.futures import Future
from pathlib import Path

import zstandard
from msgspec import Struct

from collector.errors import Overloaded, RetryableError, ShuttingDown, SpoolBroken, SpoolFull
from collector.journal import PAGE_BYTES, Durability, Journal, Row, Signal, SpoolEntry, is_corrupt
from collector.quiet_log import QuietLog

__all__ = ["Spool", "SpoolEntry", "SpoolStats"]

logger = logging.getLogger(__name__)

BATCH_BYTES = 16 << 20  # most compressed bytes in one commit
PENDING_BYTES = 64 << 20  # most compressed bytes waiting for a commit: beyond, the disk is slower than the clients
DISCARD_BYTES = (
    4 << 20
)  # most compressed bytes deleted between two commits, so that a discard delays no acknowledgement
CHECKPOINT_BYTES = 8 << 20  # written since the last checkpoint before the next one
COMMIT_BYTES = 3 * PAGE_BYTES  # what a commit writes besides its payloads
WAL_BYTES = 64 << 20  # a log this long (a reader held it) is emptied at once
PROBE_S = 1.0  # how long a failed spool refuses before it tries a write again
IDLE_S = 1.0  # quiet time after which the write-ahead log is emptied


class SpoolStats(Struct, frozen=True):
    """What waits in the spool. `bytes` are compressed; `broken` says why it refuses, '' when it does not."""

    entries: int
    bytes: int
    oldest_received_ns: int
    newest_seq: int
    free_bytes: int = 0
    broken: str = ""


class _Append(Struct):
    project: str
    signal: Signal
    received_ns: int
    payload: bytes
    future: Future[int]


class Spool:
    """A durable queue of export requests in the folder `path` (created; one process at a time)."""

    def __init__(
        self, path: Path, *, durability: Durability = "fsync", max_bytes: int = 10 << 30, min_free_bytes: int = 1 << 30
    ) -> None:
        self.path = path
        self.max_bytes = max_bytes
        self.min_free_bytes = min_free_bytes
        self._journal = Journal(path, durability)
        self._local = threading.local()
        self._log = QuietLog(logger)
        lock = threading.RLock()  # guards everything below
        self._work = threading.Condition(lock)  # the writer waits here
        self._newer = threading.Condition(lock)  # readers wait here for a newer entry
        self._pending: deque[_Append] = deque()
        self._pending_bytes = 0
        self._discard_upto = 0
        self._remove: list[int] = []
        self._damage = ""
        self._broken: RetryableError | None = None
        self._closing = False
        self._written = 0  # bytes since the last checkpoint
        self._tidy = False  # the log is empty and free pages are given back
        self._writer = threading.Thread(target=self._run, name="passhat-spool", daemon=True)
        self._writer.start()

    @property
    def share(self) -> float:
        """How much of the cap is taken, what waits for its commit included."""
        return (self._journal.bytes + self._pending_bytes) / max(1, self.max_bytes)

    def append(self, project: str, signal: Signal, payload: bytes, received_ns: int) -> Future[int]:
        """Queues one request; the future gives its number once it is durable, or the error.

        Raises SpoolFull at the byte cap or on a full disk, SpoolBroken after a failed write until one succeeds again,
        Overloaded when commits cannot keep up, ShuttingDown after `close`. Nothing is kept then.
        """
        packed = self._compressor().compress(payload)
        free = self._free_bytes()
        future: Future[int] = Future()
        with self._work:
            self._refuse(len(packed), free)
            self._pending.append(_Append(project, signal, received_ns, packed, future))
            self._pending_bytes += len(packed)
            self._work.notify()
        return future

    def _compressor(self) -> zstandard.ZstdCompressor:
        compressor = getattr(self._local, "compressor", None)
        if compressor is None:  # one a thread: a compressor must not be shared
            compressor = self._local.compressor = zstandard.ZstdCompressor(level=1, write_checksum=True)
        return compressor

    def _refuse(self, size: int, free: int) -> None:
        if self._closing:
            raise ShuttingDown("the collector is stopping")
        if self._broken is not None:
            raise type(self._broken)(str(self._broken))
        if self._journal.bytes + self._pending_bytes + size > self.max_bytes:
            raise SpoolFull(
                f"the spool holds its cap of {self.max_bytes} bytes (spool.max_bytes): the store is not keeping up"
            )
        if free - self._pending_bytes - size < self.min_free_bytes:
            raise SpoolFull(
                f"{free} bytes are free on the spool's disk, {self.min_free_bytes} are kept free (spool.min_free_bytes)"
            )
        if self._pending_bytes + size > PENDING_BYTES and self._pending:
            raise Overloaded("the spool's disk is slower than what arrives")

    def _free_bytes(self) -> int:
        disk = os.statvfs(self.path)
        return disk.f_bavail * disk.f_frsize

    def read(self, after_seq: int, *, max_entries: int, max_bytes: int) -> list[SpoolEntry]:
        """Entries after `after_seq` in order; at least one where there is one, at most `max_bytes` inflated.

        Damaged entries are set aside in `quarantine/` and left out; a damaged file is rebuilt from what can be read.
        """
        try:
            entries, damaged = self._journal.read(after_seq, max_entries, max_bytes)
        except sqlite3.Error as error:
            if not is_corrupt(error):
                raise SpoolBroken(f"the spool cannot be read: {error}") from error
            with self._work:
                self._damage = str(error)
                self._work.notify()
            return []
        for row, reason in damaged:
            self._set_aside(row, reason)
        return entries

    def wait(self, after_seq: int, timeout_s: float) -> bool:
        """Waits until an entry after `after_seq` is there; False when the time is over first or the spool closes."""
        with self._newer:
            self._newer.wait_for(lambda: self._is_newer(after_seq) or self._closing, timeout_s)
            return self._is_newer(after_seq)

    def _is_newer(self, after_seq: int) -> bool:
        return bool(self._journal.entries > 0 and self._journal.newest > after_seq)

    def discard(self, upto_seq: int) -> None:
        """Everything up to `upto_seq` is safe in the store: it is deleted, soon, in the background."""
        with self._work:
            self._discard_upto = max(self._discard_upto, upto_seq)
            self._work.notify()

    def quarantine(self, entry: SpoolEntry, reason: str) -> Path:
        """Moves one entry that nobody can process to a file in `quarantine/`; returns that file."""
        return self._set_aside(entry, reason)

    def quarantine_row(self, project: str, signal: Signal, received_ns: int, row: bytes, reason: str) -> Path:
        """Keeps one row that no table can hold, as JSON, in `quarantine/`; the rest of its request was stored."""
        note: dict[str, object] = {"project": project, "signal": signal, "received_ns": received_ns, "reason": reason}
        return self._journal.keep(f"row-{received_ns}", f"{signal}.row", row, note)

    def _set_aside(self, row: Row | SpoolEntry, reason: str) -> Path:
        seq = row.seq if isinstance(row, SpoolEntry) else row[0]
        file = self._journal.set_aside(row, reason)
        logger.error("spool entry %d set aside as %s: %s", seq, file, reason)
        with self._work:
            self._remove.append(seq)
            self._work.notify()
        return file

    def stats(self) -> SpoolStats:
        """What waits now; cheap enough for every scrape."""
        with self._work:
            entries, size, newest = self._journal.entries, self._journal.bytes, self._journal.newest
            broken = str(self._broken or "")
        try:
            oldest = self._journal.oldest_received_ns()
        except sqlite3.Error as error:
            oldest, broken = 0, broken or str(error)
        return SpoolStats(entries, size, oldest, newest, self._free_bytes(), broken)

    def close(self) -> None:
        """Commits what was appended, empties the write-ahead log and frees the folder; appends raise ShuttingDown."""
        with self._work:
            self._closing = True
            self._work.notify_all()
            self._newer.notify_all()
        self._writer.join()
        self._journal.close()

    # --- the writer thread ---

    def _run(self) -> None:
        while True:
            with self._work:
                idle = not self._work.wait_for(self._has_work, None if self._tidy else IDLE_S)
                batch = self._take()
                if self._closing and not batch:
                    break
            try:
                self._turn(batch, idle)
            except Exception as error:  # the only writer must live: say it, refuse, try again
                self._fail(batch, error)
        self._finish()

    def _has_work(self) -> bool:
        return bool(self._pending or self._discard_upto or self._remove or self._damage or self._closing)

    def _take(self) -> list[_Append]:
        batch: list[_Append] = []
        size = 0
        while self._pending and size < BATCH_BYTES:
            append = self._pending.popleft()
            size += len(append.payload)
            if append.future.set_running_or_notify_cancel():  # whoever gave up before the commit is not written
                batch.append(append)
        self._pending_bytes -= size
        return batch

    def _turn(self, batch: list[_Append], idle: bool) -> None:
        if self._damage:
            self._journal.rebuild(self._damage)
            self._damage = ""
        if batch:
            self._commit(batch)
        while self._remove:
            self._journal.remove(self._remove[-1])
            self._remove.pop()
        self._discard()
        self._keep_short(idle)

    def _discard(self) -> None:
        upto = self._discard_upto
        if not upto:
            return
        before = self._journal.bytes
        more = self._journal.discard(upto, DISCARD_BYTES)
        self._written += before - self._journal.bytes
        self._tidy = False
        with self._work:
            if not more and self._discard_upto == upto:
                self._discard_upto = 0

    def _commit(self, batch: list[_Append]) -> None:
        first = self._journal.next_seq
        self._journal.append(
            [(first + i, a.project, a.signal, a.received_ns, len(a.payload), a.payload) for i, a in enumerate(batch)]
        )
        self._written += sum(len(a.payload) for a in batch) + COMMIT_BYTES
        self._tidy = False
        with self._newer:
            self._newer.notify_all()
        for i, append in enumerate(batch):
            append.future.set_result(first + i)

    def _keep_short(self, idle: bool) -> None:
        if idle or self._journal.wal_bytes() > WAL_BYTES:
            self._tidy = self._journal.empty_wal() and idle
            self._written = 0
        elif self._written > CHECKPOINT_BYTES:
            self._journal.checkpoint()
            self._written = 0

    def _fail(self, batch: list[_Append], error: Exception) -> None:
        refusal = _refusal(error)
        self._log.say(logging.ERROR, type(refusal).__name__, "spool %s refuses: %s", self.path, refusal)
        with self._work:
            self._broken = refusal
            waiting = [a for a in self._pending if a.future.set_running_or_notify_cancel()]
            self._pending.clear()
            self._pending_bytes = 0
            if isinstance(error, sqlite3.Error) and is_corrupt(error):
                self._damage = str(error)
        for append in batch + waiting:
            if not append.future.done():
                append.future.set_exception(refusal)
        self._recover()

    def _recover(self) -> None:
        """Tries a write every second; appends are refused until one succeeds."""
        while True:
            with self._work:
                if self._work.wait_for(lambda: self._closing, PROBE_S):
                    return
            try:
                if self._damage:
                    self._journal.rebuild(self._damage)
                    self._damage = ""
                self._journal.probe()
            except Exception as error:
                logger.debug("spool still refuses: %s", error)
                if isinstance(error, sqlite3.Error) and is_corrupt(error):
                    self._damage = str(error)
                continue
            with self._work:
                self._broken = None
            self._log.say(logging.WARNING, "again", "spool %s accepts again", self.path)
            return

    def _finish(self) -> None:
        try:
            while self._discard_upto and self._journal.discard(self._discard_upto, DISCARD_BYTES):
                pass
            self._journal.empty_wal()
        except sqlite3.Error as error:
            logger.error("spool %s closed without a checkpoint: %s", self.path, error)


def _refusal(error: Exception) -> RetryableError:
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
        return SpoolFull(f"the spool's disk is full: {error}")
    return SpoolBroken(f"the spool cannot be written: {error}")
