"""A corrected dialect over what is stored: rows → spans → facts → newer rows, where the facts became others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from collector.store.replays import Cursor
from collector.store.rows import GENERATIONS, MOVED, Batch, log_row, span_row
from collector.store.spans_of_rows import record_of, span_of
from collector.store.store import Store
from collector.store.writer import CONFLICT
from semconv.resolve import facts_of, facts_of_log
from semconv.words import Words

ROWS = 20_000  # read at once: a slice takes seconds, and is what a crash repeats


class _Slice(Struct):
    """What one slice changes."""

    batch: Batch
    moved: list[tuple[str, str, str]]
    touched: set[tuple[str, str]]


class Replay:
    """Slice by slice through spans, then logs. Where it stands is in the store: whoever asks next goes on there.

    The facts of a row that newer words have read already are left alone, so that repeating costs little. Rows whose
    facts stay the same are not written: their runs get no new revision.
    """

    def __init__(self, store: Store, words: Words, generation: int) -> None:
        self._store = store
        self._words = words
        self._generation = generation

    def begin(self) -> Cursor:
        """Where an unfinished replay of these words stands; a finished one begins anew."""
        cursor = self._store.replays.cursor(self._generation)
        if cursor.finished:
            cursor = Cursor(self._generation, step=cursor.step + 1)
            self._store.replays.save(cursor)
        return cursor

    def step(self) -> Cursor:
        """Replay one slice. New rows are written, then judgement is asked for, then the cursor moves."""
        replays = self._store.replays
        cursor = replays.cursor(self._generation)
        if cursor.finished:
            return cursor
        units = replays.units_after(cursor, ROWS)
        if cursor.time_ns:
            cursor = self._loose(cursor)
        elif cursor.signal == "logs" and units and sum(units.values()) > ROWS and not next(iter(units))[1]:
            cursor = self._loose(replace(cursor, project=next(iter(units))[0], unit=""))
        elif units:
            rows = replays.rows_of(cursor.signal, list(units))
            project, unit = list(units)[-1]
            cursor = self._write(replace(cursor, project=project, unit=unit), rows)
        elif cursor.signal == "spans":
            cursor = replace(cursor, signal="logs", project="", unit="")
        else:
            cursor = replace(cursor, finished=True)
        cursor = replace(cursor, step=cursor.step + 1)
        replays.save(cursor)
        return cursor

    def _loose(self, cursor: Cursor) -> Cursor:
        """A slice of the logs of no unit of one project: there may be any number, so it is cut by time."""
        rows, reached_ns = self._store.replays.loose_logs(cursor.project, cursor.time_ns, ROWS)
        return self._write(replace(cursor, time_ns=reached_ns), rows)

    def _write(self, cursor: Cursor, rows: list[dict[str, Any]]) -> Cursor:
        made = self._slice(cursor, rows)
        self._store.replays.replace(made.batch, made.moved, sorted(made.touched))
        changed = len(made.batch.spans) + sum(MOVED not in row.flags for row in made.batch.logs)
        return replace(cursor, seen=cursor.seen + len(rows), changed=cursor.changed + changed)

    def _slice(self, cursor: Cursor, rows: list[dict[str, Any]]) -> _Slice:
        made = _Slice(Batch(), [], set())
        for row in self._older(rows, "span_id" if cursor.signal == "spans" else "content_hash"):
            if cursor.signal == "spans":
                self._span(row, made)
            else:
                self._log(row, made)
        return made

    def _older(self, rows: list[dict[str, Any]], name: str) -> Iterator[dict[str, Any]]:
        """The newest version of each row, where older words found its facts."""
        newest: dict[tuple[Any, ...], dict[str, Any]] = {}
        for row in rows:
            key = (row["project"], row.get("unit") or row["trace_id"], row.get("time_ns"), row[name])
            before = newest.get(key)
            if before is not None and (before["content_hash"] != row["content_hash"] or CONFLICT in before["flags"]):
                row["flags"] = [*row["flags"], CONFLICT]
            newest[key] = row
        for row in newest.values():
            if row["version"] % GENERATIONS < self._generation and MOVED not in row["flags"]:
                yield row

    def _span(self, row: dict[str, Any], made: _Slice) -> None:
        span = span_of(row)
        new = span_row(row["project"], row["received_ns"], span, facts_of(span, self._words), self._generation)
        if new.facts != row["facts"].encode():
            if CONFLICT in row["flags"]:
                new = replace(new, flags=(*new.flags, CONFLICT))
            made.batch.spans.append(new)
            made.touched.add((new.project, new.trace_id))

    def _log(self, row: dict[str, Any], made: _Slice) -> None:
        record = record_of(row)
        new = log_row(row["project"], row["received_ns"], record, facts_of_log(record, self._words), self._generation)
        if new.facts == row["facts"].encode():
            return
        old_unit = row["unit"]
        if not new.unit:
            new = replace(new, unit=old_unit)  # nothing says where else: its run must learn what it has lost
        elif new.unit != old_unit:
            # The unit is part of the row's key: the old row stays as a mark, and the old unit is joined to the new
            # one, so that a run made there is withdrawn.
            made.batch.logs.append(replace(new, unit=old_unit, flags=(*new.flags, MOVED), join_keys=()))
            if old_unit:
                made.moved.append((new.project, new.unit, old_unit))
        made.batch.logs.append(new)
        if new.unit:
            made.touched.add((new.project, new.unit))


def progress_of(store: Store, cursor: Cursor) -> dict[str, Any]:
    """A replay as the API tells it."""
    return {
        "generation": cursor.generation,
        "seen": cursor.seen,
        "changed": cursor.changed,
        "left": store.replays.left(cursor),
        "finished": cursor.finished,
        "asked_ns": store.now_ns(),
    }
