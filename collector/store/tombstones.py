"""What of removed runs must not come back: asked by the drain of every span, and by readers of units."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from collector.store.client import Connections
from collector.store.reader import Reader
from collector.store.rows import Batch, LogRow, SpanRow
from semconv.facts import Facts, SpanFacts
from semconv.names import RUN_ID

State = Literal["requested", "hidden", "swept", "removed"]
Key = tuple[str, str]  # project, run id
_BY_RUN = f"{RUN_ID}="  # the join key of records that name their run
COLUMNS = ("project", "run_id", "traces", "spans", "logs", "records", "state", "step", "requested_ns")


class Tombstone(Struct, frozen=True):
    """One removed run (queries/schema/0019_run_tombstones.sql); `requested_ns` by the store's clock."""

    project: str
    run_id: str
    traces: tuple[str, ...]
    spans: tuple[str, ...]
    logs: tuple[str, ...]
    records: int
    state: State = "requested"
    step: int = 0
    requested_ns: int = 0

    @property
    def units(self) -> set[str]:
        """The units it speaks of."""
        return {*self.traces, *(part.rpartition(":")[0] for part in (*self.spans, *self.logs))}

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids in hex by which its records are known in bytes: of whole traces, else of spans."""
        return (*self.traces, *(span.rpartition(":")[2] for span in self.spans))


class Tombstones:
    """All tombstones, in memory and in the store. Thread-safe."""

    def __init__(self, connections: Connections, reader: Reader) -> None:
        self._connections = connections
        self._reader = reader
        self._lock = threading.Lock()
        self._known: dict[Key, Tombstone] = {}
        self._traces: set[tuple[str, str]] = set()
        self._spans: dict[tuple[str, str], Key] = {}
        self._learned: dict[Key, set[str]] = {}  # spans refused because their parent was: theirs are refused too
        self.refresh()

    def refresh(self) -> None:
        """Read what other collectors removed."""
        sql = f"SELECT {', '.join(COLUMNS)} FROM run_tombstones FINAL"
        for row in self._reader.rows(sql):
            self._remember(msgspec.convert(dict(zip(COLUMNS, row, strict=True)), Tombstone))

    def put(self, stone: Tombstone) -> Tombstone:
        """Write a state; durable when this returns."""
        stone = replace(stone, step=stone.step + 1)
        with self._connections.writer() as client:
            row = [list(value) if isinstance(value, tuple) else value for value in
                   (getattr(stone, name) for name in COLUMNS)]  # fmt: skip
            client.insert("run_tombstones", [row], column_names=list(COLUMNS))
        self._remember(stone)
        return stone

    def _remember(self, stone: Tombstone) -> None:
        key = (stone.project, stone.run_id)
        with self._lock:
            known = self._known.get(key)
            if known is not None and known.step > stone.step:
                return
            self._known[key] = stone
            self._traces.update((stone.project, trace) for trace in stone.traces)
            self._spans.update({(stone.project, span): key for span in stone.spans})

    def find(self, project: str, run_id: str) -> Tombstone | None:
        return self._known.get((project, run_id))

    def projects(self, run_id: str) -> list[str]:
        """The projects that had a run of this id."""
        return [project for project, name in self._known if name == run_id]

    def pending(self) -> list[Tombstone]:
        """Those whose removal is not complete, oldest first."""
        return sorted((one for one in self._known.values() if one.state != "removed"), key=lambda s: s.requested_ns)

    def __bool__(self) -> bool:
        return bool(self._known)

    def sift(self, batch: Batch) -> tuple[int, int]:
        """Take what belongs to removed runs out of a batch; how many spans, how many log records."""
        if not self._known:
            return 0, 0
        before = len(batch.spans), len(batch.logs)
        batch.spans[:] = self._without_children([row for row in batch.spans if not self._names(row, row.trace_id)])
        batch.logs[:] = [row for row in batch.logs if not self._names(row, row.unit)]
        return before[0] - len(batch.spans), before[1] - len(batch.logs)

    def _names(self, row: SpanRow | LogRow, unit: str) -> bool:
        run_id = row.run_id or next((key[len(_BY_RUN) :] for key in row.join_keys if key.startswith(_BY_RUN)), "")
        return self.refuses(row.project, unit, row.trace_id, row.span_id, run_id)

    def refuses(self, project: str, unit: str, trace_id: str, span_id: str, run_id: str) -> bool:
        """Whether a record belongs to a removed run, by its unit, its ids, or the run it names."""
        if (project, trace_id) in self._traces or (project, unit) in self._traces:
            return True
        if (project, f"{trace_id}:{span_id}") in self._spans:
            return True
        return bool(run_id) and (project, run_id) in self._known

    def _without_children(self, rows: list[SpanRow]) -> list[SpanRow]:
        """Without what hangs below a removed run's span in a trace that it shared: late children, in any order."""
        while self._spans:
            kept = [row for row in rows if not self._hangs_below(row)]
            if len(kept) == len(rows):
                break
            rows = kept
        return rows

    def _hangs_below(self, row: SpanRow) -> bool:
        key = self._spans.get((row.project, f"{row.trace_id}:{row.parent_span_id}"))
        if key is None:
            return False
        with self._lock:
            self._spans[row.project, f"{row.trace_id}:{row.span_id}"] = key
            self._learned.setdefault(key, set()).add(f"{row.trace_id}:{row.span_id}")
        return True

    def learned(self) -> list[Tombstone]:
        """Tombstones with the spans refused since, to be written."""
        with self._lock:
            learned, self._learned = self._learned, {}
        return [
            replace(self._known[key], spans=(*self._known[key].spans, *sorted(new))) for key, new in learned.items()
        ]

    def left(self, project: str, members: Iterable[str], facts: Iterable[SpanFacts]) -> tuple[list[SpanFacts], int]:
        """The facts of a unit without those of removed runs, and how many inputs those were.

        The count goes on to order revisions: a unit that lost a run must not look as if less had been read of it.
        """
        names = set(members)
        gone = [
            stone for stone in self._known.values() if stone.project == project and not names.isdisjoint(stone.units)
        ]
        if not gone:
            return list(facts), 0
        logs = {log.rpartition(":")[2] for stone in gone for log in stone.logs}
        kept = [
            one
            for one in facts
            if not (one.signal == "log" and one.content_hash in logs)
            and not self.refuses(project, one.trace_id, one.trace_id, one.span_id, _run_named(one.facts))
        ]
        return kept, sum(stone.records for stone in gone)


def _run_named(facts: Facts) -> str:
    return (facts.own.run_id if facts.own else "") or (facts.resource.run_id if facts.resource else "")
