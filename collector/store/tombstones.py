"""What of removed runs must not come back: asked by the drain of every span, and by readers of units."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from collector.errors import StoreError
from collector.store.client import Connections
from collector.store.rows import Batch, LogRow, SpanRow
from semconv.facts import Facts, SpanFacts
from semconv.names import RUN_ID

State = Literal["requested", "hidden", "swept", "removed"]
Key = tuple[str, str]  # project and run id, unit, or part of one
ATTEMPT = "attempt"  # beside join keys: the prompt a record belongs to
_decode = msgspec.json.Decoder(Facts).decode
_BY_RUN = f"{RUN_ID}="  # the join key of records that name their run
COLUMNS = (
    "project", "run_id", "traces", "spans", "logs", "beside", "records", "closed_ns", "state", "step", "requested_ns",
)  # fmt: skip


class Tombstone(Struct, frozen=True):
    """One removed run (queries/schema/0036_removed_runs.sql); times by the store's clock."""

    project: str
    run_id: str
    traces: tuple[str, ...] = ()
    spans: tuple[str, ...] = ()
    logs: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    records: int = 0
    closed_ns: int = 0
    state: State = "requested"
    step: int = 0
    requested_ns: int = 0

    @property
    def key(self) -> Key:
        return (self.project, self.run_id)

    @property
    def shared(self) -> frozenset[str]:
        """The units that hold something of other runs too."""
        return frozenset(part.rpartition(":")[0] for part in (*self.spans, *self.logs))

    @property
    def spared(self) -> frozenset[str]:
        """Units beside it with nothing of it: what names the run there is of another life of its id."""
        return frozenset(self.beside) - self.shared

    @property
    def ids(self) -> list[tuple[str, ...]]:
        """By what its records are known in bytes: all ids of one tuple, or a join key."""
        return [*((one,) for one in self.traces), *(tuple(span.split(":")) for span in self.spans)]


class Left(Struct, frozen=True):
    """What removals leave of a unit.

    `removed` counts the inputs that went: revisions are ordered by inputs, and a unit that lost a run must not look as
    if less had been read of it. `closed` tells when lives of a run id that are gone ended, for the lives after them.
    """

    facts: tuple[SpanFacts, ...]
    removed: int = 0
    closed: tuple[tuple[str, int], ...] = ()


class Tombstones:
    """All tombstones, in memory and in the store. Thread-safe."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._lock = threading.RLock()
        self._known: dict[Key, Tombstone] = {}
        self._whole: set[Key] = set()
        self._parts: dict[Key, Key] = {}  # (project, 'trace:span' or 'unit:hash') to whose it is
        self._units: dict[Key, set[Key]] = {}  # (project, unit) to the removed runs that were in it or beside it
        self._lives: dict[Key, set[Key]] = {}  # (project, run id without its life) to removed runs
        self._spared: dict[Key, frozenset[str]] = {}
        self._of_attempts: set[str] = set()  # projects of removed runs that had attempts
        self._learned: dict[Key, set[str]] = {}  # spans refused because their parent was: theirs are refused too
        self.refresh()

    def refresh(self) -> None:
        """Read what other collectors removed."""
        with self._connections.reader() as client:
            rows = client.query(f"SELECT {', '.join(COLUMNS)} FROM removed_runs FINAL").result_rows
        for row in rows:
            self._remember(msgspec.convert(dict(zip(COLUMNS, row, strict=True)), Tombstone))

    def put(self, stone: Tombstone) -> Tombstone:
        """Write a state; durable when this returns."""
        stone = replace(stone, step=stone.step + 1)
        values = [list(value) if isinstance(value, tuple) else value for value in msgspec.structs.astuple(stone)]
        with self._connections.writer() as client:
            client.insert("removed_runs", [values], column_names=list(Tombstone.__struct_fields__))
            self._remember(stone)
        return stone

    def _remember(self, stone: Tombstone) -> None:
        key, project = stone.key, stone.project
        with self._lock:
            known = self._known.get(key)
            if known is not None and known.step > stone.step:
                return
            if known is not None:  # two collectors may have written the same step
                lost = {*known.spans, *known.traces} - {*stone.spans, *stone.traces}
                if lost:
                    self._learned.setdefault(key, set()).update(lost)
            self._known[key] = stone
            self._whole.update((project, unit) for unit in stone.traces)
            self._parts.update({(project, part): key for part in (*stone.spans, *stone.logs)})
            for unit in {*stone.traces, *stone.beside}:
                self._units.setdefault((project, unit), set()).add(key)
            self._lives.setdefault((project, _base(stone.run_id)), set()).add(key)
            self._spared[key] = stone.spared
            if any(unit.startswith(f"{ATTEMPT}=") for unit in stone.traces):
                self._of_attempts.add(project)

    def find(self, project: str, run_id: str) -> Tombstone | None:
        return self._known.get((project, run_id))

    def all(self) -> list[Tombstone]:
        """Every removed run, the newest request first."""
        with self._lock:
            return sorted(self._known.values(), key=lambda stone: -stone.requested_ns)

    def pending(self) -> list[Tombstone]:
        """Those whose removal is not complete, oldest first."""
        return [stone for stone in reversed(self.all()) if stone.state != "removed"]

    def projects(self, run_id: str) -> list[str]:
        """The projects that had a run of this id."""
        return [stone.project for stone in self.all() if stone.run_id == run_id]

    def sift(self, batch: Batch) -> tuple[int, int]:
        """Take what belongs to removed runs out of a batch; how many spans, how many log records.

        Raises StoreError where what was learned cannot be written: sift again before the batch counts as stored.
        """
        if not self._known:
            return 0, 0
        before = len(batch.spans), len(batch.logs)
        for span in batch.spans:
            self._learn_named(span)
        batch.spans[:] = self._without_children([row for row in batch.spans if not self._claims(row, row.trace_id)])
        batch.logs[:] = [row for row in batch.logs if not self._claims(row, row.unit)]
        if self._learned:
            self._write_learned()
        return before[0] - len(batch.spans), before[1] - len(batch.logs)

    def _learn_named(self, row: SpanRow) -> None:
        """A span elsewhere that names a removed run: what hangs below it goes too, below a root the whole trace."""
        run_id = _named_by(row)
        if not self._is_named(row.project, row.trace_id, run_id):
            return
        whole = not row.parent_span_id and (row.project, row.trace_id) not in self._units
        self._learn((row.project, run_id), row.trace_id if whole else f"{row.trace_id}:{row.span_id}")

    def _learn(self, key: Key, part: str) -> None:
        project = key[0]
        with self._lock:
            if (project, part) in self._parts or (project, part) in self._whole:
                return
            if ":" in part:
                self._parts[project, part] = key
            else:
                self._whole.add((project, part))
            self._learned.setdefault(key, set()).add(part)

    def _claims(self, row: SpanRow | LogRow, unit: str) -> bool:
        if self.holds(row.project, unit, row.trace_id, row.span_id):
            return True
        if self._is_named(row.project, unit, _named_by(row)):
            return True
        # Facts are read again only where a removed run had attempts: it costs more than all the rest.
        has_attempt = row.project in self._of_attempts and b'"attempt":' in row.facts
        keys = keys_of(_decode(row.facts)) if has_attempt else row.join_keys
        return any((row.project, key) in self._whole for key in keys)

    def holds(self, project: str, unit: str, trace_id: str, span_id: str) -> bool:
        """Whether a record is a removed run's by the ids it lies under."""
        places = ((project, trace_id), (project, unit))
        return not self._whole.isdisjoint(places) or (project, f"{trace_id}:{span_id}") in self._parts

    def _is_named(self, project: str, unit: str, run_id: str) -> bool:
        return bool(run_id) and (project, run_id) in self._known and unit not in self._spared[project, run_id]

    def _without_children(self, rows: list[SpanRow]) -> list[SpanRow]:
        """Without what hangs below a removed run's span in a trace that it shared: late children, in any order."""
        while self._parts:
            kept = [row for row in rows if not self._hangs_below(row)]
            if len(kept) == len(rows):
                break
            rows = kept
        return rows

    def _hangs_below(self, row: SpanRow) -> bool:
        key = self._parts.get((row.project, f"{row.trace_id}:{row.parent_span_id}"))
        if key is not None:
            self._learn(key, f"{row.trace_id}:{row.span_id}")
        return key is not None

    def _write_learned(self) -> None:
        """Write it down: the process may end, and what belongs to it may come later. A whole trace is swept again."""
        with self._lock:
            learned, self._learned = self._learned, {}
        for key, new in learned.items():
            stone = self._known[key]
            spans = {part for part in new if ":" in part}
            traces, spans = {*stone.traces, *(new - spans)}, {*stone.spans, *spans}
            state = stone.state if len(traces) == len(stone.traces) or stone.state == "requested" else "hidden"
            try:
                self.put(replace(stone, traces=tuple(sorted(traces)), spans=tuple(sorted(spans)), state=state))
            except StoreError:
                with self._lock:
                    for one, parts in learned.items():
                        self._learned.setdefault(one, set()).update(parts)
                raise

    def left(self, project: str, members: Iterable[str], facts: Iterable[SpanFacts]) -> Left:
        """The facts of a unit without those of removed runs."""
        every = tuple(facts)
        with self._lock:
            named = {run_id for one in every if (run_id := _run_named(one.facts))} if self._known else set()
            keys = set().union(*(self._units.get((project, unit), ()) for unit in members))
            lives = set().union(*(self._lives.get((project, run_id), ()) for run_id in map(_base, named)))
            stones = [self._known[key] for key in sorted(keys)]
            closed = [(self._known[key].run_id, self._known[key].closed_ns) for key in sorted(keys | lives)]
        if not closed:
            return Left(every)
        kept = tuple(one for one in every if not self._takes(one))
        return Left(kept, sum(stone.records for stone in stones), tuple(closed))

    def _takes(self, one: SpanFacts) -> bool:
        unit = unit_of(one)
        if one.signal == "log" and (one.project, f"{unit}:{one.content_hash}") in self._parts:
            return True
        if self.holds(one.project, unit, one.trace_id, one.span_id):
            return True
        if self._is_named(one.project, unit, _run_named(one.facts)):
            return True
        return any((one.project, key) in self._whole for key in keys_of(one.facts))


def unit_of(record: SpanFacts) -> str:
    """The unit a record lies in, as collector/store/rows.py puts it; '' for a log of none."""
    return record.trace_id or next(iter(record.facts.join_keys), "")


def keys_of(facts: Facts) -> tuple[str, ...]:
    """What ties a record to others of its run wherever they lie: its join keys, its attempt."""
    return (*facts.join_keys, f"{ATTEMPT}={facts.attempt}") if facts.attempt else facts.join_keys


def _named_by(row: SpanRow | LogRow) -> str:
    """The run a record names, itself or by its resource."""
    return row.run_id or next((key[len(_BY_RUN) :] for key in row.join_keys if key.startswith(_BY_RUN)), "")


def _run_named(facts: Facts) -> str:
    return (facts.own.run_id if facts.own else "") or (facts.resource.run_id if facts.resource else "")


def _base(run_id: str) -> str:
    """The id as its emitter has it: later lives of it are `ID~2` and so on."""
    base, mark, number = run_id.rpartition("~")
    return base if mark and number.isdigit() else run_id
