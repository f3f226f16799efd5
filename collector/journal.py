"""The spool's file: one SQLite table of zstd-compressed export requests, in WAL mode.

SQLite gives crash safety by construction: a torn tail of the write-ahead log is cut by its checksums, a commit is
whole or absent. Whatever SQLite cannot read any more is set aside in `quarantine/`, what can still be read is carried
over, and the collector starts.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from itertools import chain, count
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import zstandard
from msgspec import Struct

from collector.errors import StoreError

Signal: TypeAlias = Literal["traces", "logs"]
Durability: TypeAlias = Literal["fsync", "os"]

logger = logging.getLogger(__name__)

PAGE_BYTES = 8192  # one commit writes whole pages: 8 KiB was fastest for small and for large requests
VACUUM_PAGES = 8192  # most free pages given back at once, so that no acknowledgement waits long
MAX_INFLATED = 1 << 30  # no entry is larger: a damaged header must not allocate what it claims
TEN_YEARS_US = 10 * 366 * 86_400 * 1_000_000
MAX_PADDED = 1 << 40
SALVAGE_BYTES = 16 << 20  # most compressed bytes carried over in one commit
_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries(
  seq INTEGER PRIMARY KEY, project TEXT NOT NULL, signal TEXT NOT NULL, received_ns INTEGER NOT NULL,
  size INTEGER NOT NULL, payload BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS meta(
  id INTEGER PRIMARY KEY CHECK (id = 0), discarded INTEGER NOT NULL, probed INTEGER NOT NULL) STRICT;
INSERT OR IGNORE INTO meta VALUES (0, 0, 0);
"""
_COLUMNS = "seq, project, signal, received_ns, size, payload"
Row: TypeAlias = tuple[int, str, str, int, int, bytes]  # _COLUMNS; size = bytes of the compressed payload


class SpoolEntry(Struct, frozen=True):
    """One acknowledged request: `payload` is a serialized ExportTraceServiceRequest or ExportLogsServiceRequest."""

    seq: int
    project: str
    signal: Signal
    received_ns: int
    payload: bytes


class Damaged(sqlite3.DatabaseError):
    """A row that SQLite reads without complaint and that cannot have been written: its page was overwritten."""

    def __init__(self) -> None:
        super().__init__("a row holds what was never written to it")


def is_corrupt(error: sqlite3.Error) -> bool:
    """Whether SQLite says that the file itself is damaged, so that trying again cannot help."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return isinstance(error, Damaged) or code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def folder_in(data: Path) -> Path:
    """Where the spool of a data directory is; one that an earlier version called `spool.sqlite` is renamed first.

    Raises StoreError while another process holds it.
    """
    folder, before = data / "spool", data / "spool.sqlite"
    if before.is_dir() and not folder.exists():
        lock = _take_lock(before / "lock")
        try:
            os.rename(before, folder)
            _sync_folder(data)
        finally:
            os.close(lock)
    return folder


class Journal:
    """The file and its two connections: one for the single writer, one for readers (guarded by a lock)."""

    def __init__(self, folder: Path, durability: Durability) -> None:
        self.folder = folder
        self.file = folder / "spool.sqlite"
        self._synchronous = {"fsync": "FULL", "os": "NORMAL"}[durability]
        self._reading = threading.RLock()  # held while the reader's connection is used or replaced
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = _take_lock(folder / "lock")
        try:
            self._open()
        except sqlite3.DatabaseError as error:
            if not is_corrupt(error):
                raise StoreError(
                    f"spool {self.file} cannot be opened: {error}", hint="check the disk and its permissions"
                ) from error
            self.rebuild(str(error))

    def _open(self) -> None:
        self._writer = self._connect(self.file)
        self._writer.executescript(_SCHEMA)
        self._reader = self._connect(self.file)
        entries, size, newest, discarded = self._writer.execute(
            "SELECT count(*), total(size), ifnull(max(seq), 0), (SELECT discarded FROM meta) FROM entries"
        ).fetchone()
        if newest > _latest_possible():
            raise Damaged
        self.entries, self.bytes, self.newest = entries, int(size), newest
        # Numbers start at the clock in microseconds, so that none comes back even when the whole file was lost.
        self.next_seq = max(self.newest, _number(discarded), time.time_ns() // 1000, getattr(self, "next_seq", 0)) + 1
        _sync_folder(self.folder)

    def _connect(self, file: Path) -> sqlite3.Connection:
        connection = sqlite3.connect(file, timeout=1.0, isolation_level=None, check_same_thread=False)
        try:
            connection.execute(f"PRAGMA page_size={PAGE_BYTES}")
            connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute(f"PRAGMA synchronous={self._synchronous}")
            connection.execute("PRAGMA secure_delete=ON")  # what was deleted must not stay in free pages
            connection.execute("PRAGMA wal_autocheckpoint=0")  # checkpoints run between commits, see Spool._keep_short
        except BaseException:
            connection.close()
            raise
        return connection

    def append(self, rows: Sequence[Row]) -> None:
        """Writes all rows in one transaction; durable when this returns. Raises sqlite3.Error: none is kept."""
        self._writer.execute("BEGIN IMMEDIATE")
        try:
            self._writer.executemany(f"INSERT INTO entries({_COLUMNS}) VALUES (?,?,?,?,?,?)", rows)
            self._writer.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise
        self.entries += len(rows)
        self.bytes += sum(row[4] for row in rows)
        self.newest = max(self.newest, rows[-1][0])
        self.next_seq = max(self.next_seq, self.newest + 1)

    def discard(self, upto_seq: int, max_bytes: int) -> bool:
        """Deletes the oldest entries up to `upto_seq`, at most `max_bytes` of them at once; False when none is left."""
        last, count, freed = 0, 0, 0
        for seq, size in self._writer.execute(
            "SELECT seq, size FROM entries WHERE seq <= ? ORDER BY seq LIMIT 1000", (upto_seq,)
        ):
            last, count, freed = seq, count + 1, freed + _number(size)
            if freed >= max_bytes:
                break
        if not count:
            return False
        self._delete("seq <= ?", last)
        self.entries -= count
        self.bytes -= freed
        return last < upto_seq

    def remove(self, seq: int) -> None:
        """Deletes one entry wherever it stands."""
        found = self._writer.execute("SELECT size FROM entries WHERE seq = ?", (seq,)).fetchone()
        if found:
            self._delete("seq = ?", seq)
            self.entries -= 1
            self.bytes -= _number(found[0])
            (self.newest,) = self._writer.execute("SELECT ifnull(max(seq), 0) FROM entries").fetchone()

    def _delete(self, where: str, seq: int) -> None:
        self._writer.execute("BEGIN IMMEDIATE")
        try:
            self._writer.execute(f"DELETE FROM entries WHERE {where}", (seq,))
            self._writer.execute("UPDATE meta SET discarded = max(discarded, ?)", (seq,))
            self._writer.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        with suppress(sqlite3.Error):  # SQLite has already rolled back after some errors
            self._writer.execute("ROLLBACK")

    def read(self, after_seq: int, max_entries: int, max_bytes: int) -> tuple[list[SpoolEntry], list[tuple[Row, str]]]:
        """Entries after `after_seq` in order, at least one, at most `max_bytes` inflated; and the damaged ones."""
        entries: list[SpoolEntry] = []
        damaged: list[tuple[Row, str]] = []
        query = f"SELECT {_COLUMNS} FROM entries WHERE seq > ? ORDER BY seq LIMIT ?"
        with self._reading, closing(self._reader.cursor()) as cursor:
            for row in cursor.execute(query, (after_seq, max_entries)):
                if not _is_sound(row):
                    raise Damaged
                try:
                    payload = _inflate(row[5])
                except zstandard.ZstdError as error:
                    damaged.append((row, str(error)))
                    continue
                max_bytes -= len(payload)
                if entries and max_bytes < 0:
                    break
                entries.append(SpoolEntry(row[0], row[1], row[2], row[3], payload))
        return entries, damaged

    def oldest_received_ns(self) -> int:
        """When the oldest waiting entry arrived, 0 when none waits."""
        with self._reading:
            row = self._reader.execute("SELECT received_ns FROM entries ORDER BY seq LIMIT 1").fetchone()
        return _number(row[0]) if row else 0

    def probe(self) -> None:
        """Opens the file anew and commits one small write: after a failed fsync the old handle proves nothing."""
        with self._reading:
            self.close_file()
            self._open()
        self._writer.execute("UPDATE meta SET probed = ?", (time.time_ns(),))

    def wal_bytes(self) -> int:
        """Bytes in the write-ahead log."""
        with suppress(FileNotFoundError):
            return os.path.getsize(f"{self.file}-wal")
        return 0

    def checkpoint(self) -> None:
        """Moves the write-ahead log into the table; the log is then written from its start again."""
        self._writer.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def empty_wal(self) -> bool:
        """Checkpoints, empties the log and gives free pages back to the disk; False when there is more to do."""
        (free_pages,) = self._writer.execute("PRAGMA freelist_count").fetchone()
        # executescript: it steps to the end, execute() frees one page only
        self._writer.executescript(f"PRAGMA incremental_vacuum({VACUUM_PAGES})")
        busy, _, _ = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not busy and bool(free_pages <= VACUUM_PAGES)

    def set_aside(self, row: Row | SpoolEntry, reason: str) -> Path:
        """Writes one entry to `quarantine/` as a file with a note beside it, then the caller removes it."""
        seq, project, signal, received_ns = (
            (row.seq, row.project, row.signal, row.received_ns) if isinstance(row, SpoolEntry) else row[:4]
        )
        suffix = f"{signal}.{'pb' if isinstance(row, SpoolEntry) else 'pb.zst'}"
        note = {"seq": seq, "project": project, "signal": signal, "received_ns": received_ns, "reason": reason}
        return self.keep(str(seq), suffix, row.payload if isinstance(row, SpoolEntry) else row[5], note)

    def keep(self, name: str, suffix: str, content: bytes, note: dict[str, object]) -> Path:
        """Writes `quarantine/name.suffix` and the note `name.json`; a name that is taken gets a number.

        A rebuilt file counts from 1 again: what was set aside before it must not be overwritten.
        """
        folder = self._quarantine()
        taken = {path.name.partition(".")[0] for path in folder.iterdir()}
        names = chain([name], (f"{name}-{number}" for number in count(2)))
        stem = next(one for one in names if one not in taken)
        target = folder / f"{stem}.{suffix}"
        _write_durably(target, content)
        _write_durably(folder / f"{stem}.json", json.dumps(note).encode())
        _sync_folder(folder)
        return target

    def rebuild(self, reason: str) -> None:
        """Moves a damaged file to `quarantine/`, starts a fresh one and carries over what can still be read."""
        old = self._quarantine() / f"spool-{time.time_ns()}.sqlite"
        with self._reading:
            self.close_file()
            for suffix in ("", "-wal", "-shm"):
                with suppress(FileNotFoundError):
                    os.rename(f"{self.file}{suffix}", f"{old}{suffix}")
            self._open()
            kept = self._carry_over(old)
        logger.error(
            "spool %s was damaged (%s): set aside as %s, %d entries carried over", self.file, reason, old, kept
        )

    def _carry_over(self, old: Path) -> int:
        kept, rows, size = 0, [], 0
        for row in _salvage(old):
            rows.append(row)
            size += row[4]
            if size > SALVAGE_BYTES:
                self.append(rows)
                kept, rows, size = kept + len(rows), [], 0
        if rows:
            self.append(rows)
        return kept + len(rows)

    def _quarantine(self) -> Path:
        folder = self.folder / "quarantine"
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    def close_file(self) -> None:
        """Closes both connections and keeps the lock."""
        with self._reading, suppress(AttributeError, sqlite3.Error):
            self._reader.close()
        with suppress(AttributeError, sqlite3.Error):
            self._writer.close()

    def close(self) -> None:
        """Closes the file and gives up the lock."""
        self.close_file()
        os.close(self._lock)


def _number(value: object) -> int:
    if not isinstance(value, int):
        raise Damaged
    return value


def _inflate(packed: bytes) -> bytes:
    if zstandard.frame_content_size(packed) > MAX_INFLATED:
        raise zstandard.ZstdError("the frame header claims an impossible size")
    return zstandard.ZstdDecompressor().decompress(packed)


def _salvage(file: Path) -> Iterator[Row]:
    """Rows of a damaged file, each once: from the front up to the damage, then from the back down to it."""
    _pad(file)
    seen: set[int] = set()
    for order, after, first in (("ASC", ">", -1), ("DESC", "<", 1 << 62)):
        with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(file, isolation_level=None)) as connection:
            step = f"SELECT seq FROM entries WHERE seq {after} ? ORDER BY seq {order} LIMIT 1"
            while (found := connection.execute(step, (first,)).fetchone()) and (first := found[0]) not in seen:
                seen.add(first)
                with suppress(sqlite3.DatabaseError):  # this row's own pages are damaged
                    row = connection.execute(f"SELECT {_COLUMNS} FROM entries WHERE seq = ?", found).fetchone()
                    if _is_sound(row):
                        yield row


def _is_sound(row: Row | None) -> bool:
    """Whether a row of a damaged file still has the form of one: its pages may hold anything."""
    if row is None or [type(value) for value in row] != [int, str, str, int, int, bytes]:
        return False
    return 0 < row[0] <= _latest_possible() and row[2] in get_args(Signal) and row[4] == len(row[5])


def _latest_possible() -> int:
    """No number is later than ten years from now: one that is would leave none for those to come."""
    return time.time_ns() // 1000 + TEN_YEARS_US


def _pad(file: Path) -> None:
    """A file cut short is refused whole by SQLite: zeros in place of what is missing let the rest be read."""
    with suppress(OSError), open(file, "r+b") as out:
        header = out.read(32)
        size = int.from_bytes(header[16:18], "big") * int.from_bytes(header[28:32], "big")
        if header.startswith(b"SQLite format 3\0") and os.path.getsize(file) < size < MAX_PADDED:
            out.truncate(size)


def _take_lock(file: Path) -> int:
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        owner = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
        os.close(descriptor)
        raise StoreError(
            f"spool {file.parent} is held by another process{f' (pid {owner})' if owner else ''}",
            hint="stop it, or give this one its own --data",
        ) from error
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, str(os.getpid()).encode(), 0)
    return descriptor


def _write_durably(file: Path, content: bytes) -> None:
    with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
