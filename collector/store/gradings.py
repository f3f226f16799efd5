"""One grading, one snapshot: lines, verdicts and result of one revision, ordered by what went in.

The run's row is written last: a crash before it leaves lines that no view shows. Two graders on one run do no harm:
the row built from more inputs wins, and hours where a loser had put the run are corrected after reading back.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from collector.store.client import Connections
from collector.store.columns import TableColumns
from collector.store.grading_rows import LineRow, RunRow, VerdictRow, hours_of, line_rows, run_row, verdict_rows
from collector.store.outcomes import OutcomeRow, outcome_row
from collector.store.reader import Key, Reader
from collector.store.records import Grading, StoredRun
from collector.store.recount import Hour, recount
from collector.store.sqlfiles import statement
from collector.store.writer import Writer
from semconv.names import RUN_ID

log = logging.getLogger("passhat.store")

SLOW_COUNT_S = 0.02
MOST_KEYS = 50  # of a statement that writes: over HTTP its parameters are in the URL


class Gradings:
    """Writes revisions and keeps the hour counts true to them."""

    def __init__(
        self, connections: Connections, reader: Reader, writer: Writer, types: dict[str, dict[str, str]]
    ) -> None:
        self._connections = connections
        self._reader = reader
        self._writer = writer
        self._lines = TableColumns("trace_lines", LineRow, types["trace_lines"])
        self._verdicts = TableColumns("verdicts", VerdictRow, types["verdicts"])
        self._outcomes = TableColumns("outcomes", OutcomeRow, types["outcomes"])
        self._runs = TableColumns("runs", RunRow, types["runs"])
        self._alone = connections.target.embedded  # one process holds the store, and writes one batch at a time
        self._owed: set[Hour] = set()
        self._count_at = 0.0

    def write(self, gradings: Sequence[Grading], now_ms: int) -> list[Grading]:
        """Write what is newer than what is stored; the gradings written. Raises StoreError: write them again."""
        with self._connections.writer():
            before = self._reader.stored_runs(_key(grading) for grading in gradings)
            gradings = self._join_namesakes(gradings, before)
            rows: dict[Key, tuple[Grading, RunRow]] = {}
            for grading in gradings:
                key = _key(grading)
                row = run_row(grading, before.get(key), now_ms)
                if row is not None and (key not in rows or row.version >= rows[key][1].version):
                    rows[key] = (grading, row)
            for group in _by_months(list(rows.values())):
                self._insert_snapshots(group, before)
            self._owed |= {hour for _, row in rows.values() for hour in hours_of(row)}
            if not self._alone:
                self._owed |= self._leave_lost_hours(list(rows))
            self.count()
            return [grading for grading, _ in rows.values()]

    def _join_namesakes(self, gradings: Sequence[Grading], before: Mapping[Key, StoredRun]) -> list[Grading]:
        """Without those of an id under which a run of other units is known: one would take the other's place.

        Their units are joined by that id, and asked for: together they are one run, or two lives of it.
        """
        places = {key: set(run.units) for key, run in before.items() if run.alive}
        kept: list[Grading] = []
        for grading in gradings:
            key, units = _key(grading), grading.units
            known = places.setdefault(key, set(units)) if grading.alive else places.get(key, set(units))
            if not known or not known.isdisjoint(units):
                kept.append(grading)
            elif grading.alive:
                pair = (min(known), min(units))
                log.info("run %s of project %s comes from %s and from %s: joined", key[1], key[0], *pair)
                self._writer.join([(key[0], f"{RUN_ID}={key[1]}", unit) for unit in pair])
                self._writer.touch([(key[0], unit) for unit in pair])
        return kept

    def count(self, *, now: bool = False) -> None:
        """Recount the hours owed. Where that is slow (a busy store) it waits, for four times as long as it took last,
        unless `now`, which readers ask for: else counting would take all the time there is. What is owed when a
        process dies is found again by `repair`.
        """
        if not self._owed:
            return
        with self._connections.writer():
            began = time.monotonic()
            if not self._owed or (began < self._count_at and not now):
                return
            recount(self._connections, self._owed)
            self._owed.clear()
            took = time.monotonic() - began
            self._count_at = time.monotonic() + (4 * took if took > SLOW_COUNT_S else 0)

    def _insert_snapshots(self, taken: list[tuple[Grading, RunRow]], before: Mapping[Key, StoredRun]) -> None:
        lines = [line for grading, row in taken for line in line_rows(grading, row, before.get(_key(grading)))]
        verdicts = [row for grading, run in taken for row in verdict_rows(grading, run)]
        outcomes = [
            outcome_row(grading.run.project, outcome, from_telemetry=True)
            for grading, _ in taken
            for outcome in grading.run.outcomes
        ]
        for columns, rows in ((self._lines, lines), (self._verdicts, verdicts), (self._outcomes, outcomes)):
            self._add(columns, rows)
        self._add(self._runs, [row for _, row in taken])

    def _add(self, columns: TableColumns, rows: Sequence[Struct]) -> None:
        if rows:
            self._connections.insert(columns.table, columns.arrow(rows))

    def _leave_lost_hours(self, keys: Sequence[Key]) -> set[Hour]:
        """Take runs out of hours where a losing revision had put them: another grader's, or ours when another's won."""
        rows = self._reader.rows(statement("counts/lost"), keys=sorted(keys)) if keys else ()
        lost = [(run_id, Hour(project, at)) for project, run_id, at in rows]
        with self._connections.writer() as client:
            for start in range(0, len(lost), MOST_KEYS):
                some = [(hour.project, run_id, hour.text) for run_id, hour in lost[start : start + MOST_KEYS]]
                client.command(statement("counts/leave"), parameters={"lost": some})
        return {hour for _, hour in lost}


def _key(grading: Grading) -> Key:
    return (grading.run.project, grading.run.run_id)


def _by_months(taken: list[tuple[Grading, RunRow]], most: int = 50) -> Iterator[list[tuple[Grading, RunRow]]]:
    """Gradings in groups that touch few months: their tables are partitioned by month."""
    group: list[tuple[Grading, RunRow]] = []
    months: set[str] = set()
    for one in taken:
        own = {hour.month for hour in hours_of(one[1])}
        if group and len(months | own) > most:
            yield group
            group, months = [], set()
        group.append(one)
        months |= own
    if group:
        yield group
