"""Spans and logs in: batch by batch, safe to repeat.

Order matters: spans and logs, then what joins them, then arrivals. Whoever learns of a unit finds its rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TypeAlias, TypeVar

import pyarrow as pa
from msgspec import Struct
from msgspec.structs import astuple, replace

from collector.store.client import Connections
from collector.store.columns import TableColumns
from collector.store.rows import Batch, LogRow, SpanRow

# A server refuses an insert over more than 100 months (code 252); 2000 to 2099 and the sentinel are 1,201.
MAX_MONTHS = 50
MONTH_NS = 28 * 86_400 * 10**9
CONFLICT = "id_conflict"
_REMEMBERED_JOINS = 200_000
# What was received, as in `content_hash`: other words for the same span are no conflict.
_CONTENT = (
    "parent_span_id", "trace_state", "trace_flags", "name", "kind", "start_ns", "end_ns", "status_code",
    "status_message", "attr_string", "attr_int", "attr_double", "attr_bool", "attr_other", "events", "links",
    "resource", "scope", "dropped_attributes", "dropped_events", "dropped_links",
)  # fmt: skip


Row = TypeVar("Row", SpanRow, LogRow)


class JoinRow(Struct, frozen=True, gc=False):
    """A value that ties units into one, and a unit that carries it."""

    project: str
    join_key: str
    unit: str


class ArrivalRow(Struct, gc=False):
    """What one batch brought for one unit."""

    project: str
    unit: str
    trace_id: str
    spans: int
    root: bool
    run_end: bool
    collector: str


_Arrived: TypeAlias = dict[tuple[str, str], ArrivalRow]


class Rejected(Struct, frozen=True):
    """A row that cannot be stored, and why. The rest of its batch was."""

    row: SpanRow | LogRow
    reason: str


class Writer:
    """Inserts batches of rows."""

    def __init__(self, connections: Connections, types: dict[str, dict[str, str]], collector: str) -> None:
        self._connections = connections
        self._collector = collector
        self._spans = TableColumns("spans", SpanRow, types["spans"])
        self._logs = TableColumns("logs", LogRow, types["logs"])
        self._joins = TableColumns("joins", JoinRow, types["joins"])
        self._arrivals = TableColumns("arrivals", ArrivalRow, types["arrivals"])
        self._joined: set[JoinRow] = set()

    def insert(self, batch: Batch) -> list[Rejected]:
        """Store the batch; what cannot be stored comes back. Raises StoreError: nothing is certain, repeat it all."""
        rejected = self.replace(batch)
        self._add(self._arrivals, self._arrived(batch))
        return rejected

    def replace(self, batch: Batch) -> list[Rejected]:
        """Store rows, newer versions of stored ones, without saying that something arrived."""
        rejected: list[Rejected] = []
        spans = _once(batch.spans)
        for some_spans in _by_months(spans, [row.start for row in spans]):
            rejected += self._add(self._spans, some_spans)
        for some_logs in _by_months(batch.logs, [row.time for row in batch.logs]):
            rejected += self._add(self._logs, some_logs)
        self._add_joins(batch)
        return rejected

    def touch(self, units: Sequence[tuple[str, str]]) -> None:
        """Ask for a new judgement of units although nothing of theirs arrived."""
        self._add(self._arrivals, [ArrivalRow(p, unit, unit, 0, False, False, self._collector) for p, unit in units])

    def join(self, pairs: Sequence[tuple[str, str, str]]) -> None:
        """Tie units together: project, join key, unit."""
        self._add(self._joins, [JoinRow(*pair) for pair in pairs])

    def _add(self, columns: TableColumns, rows: Sequence[Struct]) -> list[Rejected]:
        """Insert rows; halve a batch that cannot be expressed until the row at fault stands alone."""
        if not rows:
            return []
        try:
            table = columns.arrow(rows)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            if len(rows) == 1:
                return [Rejected(rows[0], str(error)[:500])]  # type: ignore[arg-type]
            middle = len(rows) // 2
            return self._add(columns, rows[:middle]) + self._add(columns, rows[middle:])
        self._connections.insert(columns.table, table)
        return []

    def _add_joins(self, batch: Batch) -> None:
        pairs = {
            JoinRow(row.project, key, row.trace_id or (row.unit if isinstance(row, LogRow) else ""))
            for rows in (batch.spans, batch.logs)
            for row in rows
            for key in row.join_keys
        }
        new = pairs - self._joined
        self._add(self._joins, sorted(new, key=astuple))
        if len(self._joined) > _REMEMBERED_JOINS:
            self._joined.clear()
        self._joined |= new

    def _arrived(self, batch: Batch) -> list[ArrivalRow]:
        arrived: _Arrived = {}
        for span in batch.spans:
            row = self._arrival(arrived, span.project, span.trace_id, span.trace_id)
            row.spans += 1
            row.root = row.root or not span.parent_span_id
            row.run_end = row.run_end or span.run_end
        for log in batch.logs:
            if log.unit:
                row = self._arrival(arrived, log.project, log.unit, log.trace_id)
                row.spans += 1
                row.run_end = row.run_end or log.run_end
        return list(arrived.values())

    def _arrival(
        self, arrived: dict[tuple[str, str], ArrivalRow], project: str, unit: str, trace_id: str
    ) -> ArrivalRow:
        key = (project, unit)
        if key not in arrived:
            arrived[key] = ArrivalRow(project, unit, trace_id, 0, False, False, self._collector)
        return arrived[key]


def _once(spans: Sequence[SpanRow]) -> list[SpanRow]:
    """Each span once: its newest version, of equals the last, flagged when another of the batch said something else.

    The table would keep the same one, but not say that they differed.
    """
    kept: dict[tuple[str, str, str], SpanRow] = {}
    for row in spans:
        key = (row.project, row.trace_id, row.span_id)
        other = kept.get(key)
        if other is not None:
            older, newer = (row, other) if row.version < other.version else (other, row)
            row = replace(newer, flags=(*newer.flags, CONFLICT)) if _differ(older, newer) else newer
        kept[key] = row
    return list(kept.values())


def _differ(older: SpanRow, newer: SpanRow) -> bool:
    """Whether there is a conflict to tell that the newer does not tell yet."""
    if CONFLICT in newer.flags:
        return False
    # By repr: NaN equals itself there.
    return CONFLICT in older.flags or any(repr(getattr(older, n)) != repr(getattr(newer, n)) for n in _CONTENT)


def _by_months(rows: Sequence[Row], times: Sequence[int]) -> Iterator[Sequence[Row]]:
    """The rows in groups of few months each; nearly always one group."""
    if not rows:
        return
    if max(times) - min(times) < MAX_MONTHS * MONTH_NS // 2:
        yield rows
        return
    months: dict[str, list[Row]] = {}
    for row, time in zip(rows, times, strict=True):
        months.setdefault(datetime.fromtimestamp(time // 10**9, UTC).strftime("%Y%m"), []).append(row)
    groups = [months[month] for month in sorted(months)]
    for start in range(0, len(groups), MAX_MONTHS):
        yield [row for group in groups[start : start + MAX_MONTHS] for row in group]
