"""What a replay of corrected words needs of the store: their generation, where it stands, stored rows, new rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from msgspec import Struct

from collector.errors import StoreError
from collector.store.client import Connections
from collector.store.reader import KEYS, Key, Reader
from collector.store.rows import GENERATIONS, MOVED, Batch
from collector.store.spans_of_rows import LOG_COLUMNS, SPAN_COLUMNS
from collector.store.tombstones import Tombstones
from collector.store.writer import Writer

Signal = Literal["spans", "logs"]
UNITS = {"spans": "trace_id", "logs": "unit"}
COLUMNS = {"spans": SPAN_COLUMNS, "logs": ("unit", *LOG_COLUMNS)}
MOST_UNITS = 2000


class Cursor(Struct, frozen=True):
    """How far a replay has come: everything up to (`signal`, `project`, `unit`) is done, of the logs of no unit only
    what is up to `time_ns`, where that is set. `seen` counts rows as they lie, `changed` those with other facts now.
    """

    generation: int
    signal: Signal = "spans"
    project: str = ""
    unit: str = ""
    time_ns: int = 0
    seen: int = 0
    changed: int = 0
    finished: bool = False
    step: int = 0


class Replays:
    """The registers of words and replays."""

    def __init__(self, connections: Connections, reader: Reader, writer: Writer, tombstones: Tombstones) -> None:
        self._connections = connections
        self._reader = reader
        self._writer = writer
        self._owed: set[Key] = set()  # units whose rows were written, and for which no judgement was asked since
        self._tombstones = tombstones

    def register(self, digest: str) -> int:
        """The generation of these words; going back to earlier ones is a new one. Raises StoreError after 4095."""
        with self._connections.writer() as client:
            sql = "SELECT generation, digest FROM normalisers FINAL ORDER BY generation DESC LIMIT 1"
            rows = self._reader.rows(sql)
            newest, known = (int(rows[0][0]), str(rows[0][1])) if rows else (0, "")
            if known == digest:
                return newest
            if newest + 1 >= GENERATIONS:
                raise StoreError(f"the dialects of this store have changed {newest} times: it can hold no more orders")
            client.insert("normalisers", [[newest + 1, digest]], column_names=["generation", "digest"])
        return newest + 1

    def cursor(self, generation: int) -> Cursor:
        """Where the replay of this generation stands; its beginning when there is none."""
        names = Cursor.__struct_fields__
        sql = f"SELECT {', '.join(names)} FROM replays FINAL WHERE generation = {{generation:UInt32}}"
        rows = self._reader.rows(sql, generation=generation)
        return Cursor(*rows[0]) if rows else Cursor(generation)

    def save(self, cursor: Cursor) -> None:
        """Keep where a replay stands. What was written before is written again after a crash, to the same end."""
        names = Cursor.__struct_fields__
        with self._connections.writer() as client:
            client.insert("replays", [[getattr(cursor, name) for name in names]], column_names=list(names))

    def left(self, cursor: Cursor) -> int:
        """Rows beyond the cursor, as they lie."""
        if cursor.finished:
            return 0
        signals: Sequence[Signal] = ("spans", "logs") if cursor.signal == "spans" else ("logs",)
        counts = [
            self._reader.rows(
                f"SELECT count() FROM {signal} WHERE {_beyond(signal)}",
                project=cursor.project if signal == cursor.signal else "",
                unit=cursor.unit if signal == cursor.signal else "",
            )
            for signal in signals
        ]
        return sum(int(rows[0][0]) for rows in counts)

    def units_after(self, cursor: Cursor, most_rows: int) -> dict[Key, int]:
        """The next units of the cursor's signal with their rows: at least one, then as many as `most_rows` allow.

        The logs of no unit ('') are one of them.
        """
        name = UNITS[cursor.signal]
        sql = f"""SELECT project, {name} AS u, count() FROM {cursor.signal} WHERE {_beyond(cursor.signal)}
            GROUP BY project, u ORDER BY project, u LIMIT {MOST_UNITS}"""
        found: dict[Key, int] = {}
        for project, unit, count in self._reader.rows(sql, project=cursor.project, unit=cursor.unit):
            if found and sum(found.values()) + count > most_rows:
                break
            found[project, unit] = count
        return found

    def loose_logs(self, project: str, after_ns: int, most_rows: int) -> tuple[list[dict[str, Any]], int]:
        """The next logs of no unit in the order of their times, and the time they reach to; (…, 0) at the end."""
        where = "project = {project:String} AND unit = '' AND time_ns > {after:UInt64}"
        sql = f"SELECT time_ns FROM logs WHERE {where} ORDER BY time_ns LIMIT 1 OFFSET {{most:UInt64}}"
        ends = self._reader.rows(sql, project=project, after=after_ns, most=most_rows)
        upto = int(ends[0][0]) if ends else 0
        limit = " AND time_ns <= {upto:UInt64}" if upto else ""
        return self._rows("logs", where + limit, project=project, after=after_ns, upto=upto), upto

    def rows_of(self, signal: Signal, units: Sequence[Key]) -> list[dict[str, Any]]:
        """Every stored version of the rows of these units, the newest last, with facts and flags; no removed run's."""
        rows = self._rows(signal, f"(project, {UNITS[signal]}) IN {KEYS}", keys=list(units))
        holds = self._tombstones.holds
        return [r for r in rows if not holds(r["project"], r[UNITS[signal]], r["trace_id"], r["span_id"])]

    def _rows(self, signal: Signal, where: str, **parameters: Any) -> list[dict[str, Any]]:
        columns = (*COLUMNS[signal], "facts", "flags", "received_ns", "version", "content_hash")
        sql = f"SELECT {', '.join(columns)} FROM {signal} WHERE {where} ORDER BY version"
        return [dict(zip(columns, row, strict=True)) for row in self._reader.rows(sql, **parameters)]

    def newest(self, signal: Signal, units: Sequence[Key]) -> list[dict[str, Any]]:
        """The rows that count of these units, in order of time."""
        name, start = ("span_id", "start_ns") if signal == "spans" else ("content_hash", "time_ns")
        found = {
            (row["project"], row[UNITS[signal]], row[start] if signal == "logs" else 0, row[name]): row
            for row in self.rows_of(signal, units)
        }
        rows = [row for row in found.values() if MOVED not in row["flags"]]
        return sorted(rows, key=lambda row: (row[start], row["span_id"], row["content_hash"]))

    def units_of(self, runs: Iterable[Key]) -> list[Key]:
        """The units that runs were assembled from, each once, in the order of the runs."""
        asked = list(runs)
        known = self._reader.units_of_runs(asked)
        return list(dict.fromkeys((run[0], unit) for run in asked for unit in known.get(run, ())))

    def replace(self, batch: Batch, moved: Sequence[tuple[str, str, str]], touched: Sequence[Key]) -> None:
        """Write newer versions of stored rows, tie what moved (project, join key, old unit), ask for judgement.

        A repeated slice finds its rows written and would ask for nothing. So judgement is asked for before them as
        well: a loop that starts after a kill judges all that was touched; and what is owed here is kept for the next.
        """
        self._owed |= set(touched)
        asked = sorted(self._owed)
        self._writer.join(moved)
        self._writer.touch(asked)
        with self._connections.writer():  # no run is removed between the look and the insert
            self._tombstones.sift(batch)
            rejected = self._writer.replace(batch)
        if rejected:
            raise StoreError(f"a stored row cannot be written again: {rejected[0].reason}")
        self._writer.touch(asked)
        self._owed.clear()


def _beyond(signal: Signal) -> str:
    name = UNITS[signal]
    return f"(project > {{project:String}} OR (project = {{project:String}} AND {name} > {{unit:String}}))"
