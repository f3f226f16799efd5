"""The store: the one object through which passhat keeps and finds things."""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from collector.store.checks import Checks
from collector.store.client import Connections, Target
from collector.store.columns import TableColumns, table_types
from collector.store.decisions import Decided, Frozen
from collector.store.engine import render
from collector.store.gradings import Gradings
from collector.store.judgements import Judgements
from collector.store.migrate import migrate
from collector.store.outcomes import OutcomeRow, outcome_row
from collector.store.reader import Key, Reader
from collector.store.records import Arrival, Grading, Result, Unit
from collector.store.recount import recount, stale_hours
from collector.store.removal import Removal
from collector.store.replays import Replays
from collector.store.retention import Retention
from collector.store.rows import Batch
from collector.store.sqlfiles import statement
from collector.store.tombstones import Tombstones
from collector.store.writer import Rejected, Writer
from semconv.outcome import Outcome

Task = tuple[str, str, str]  # project, task_id, task_version


class StorePlace(Protocol):
    """`config.store`: where the store is."""

    @property
    def url(self) -> str: ...

    @property
    def cluster(self) -> str | None: ...


class Store:
    """Open with `Store.open`; every method may be called from any thread. Methods raise StoreError."""

    def __init__(self, connections: Connections, collector: str) -> None:
        self._connections = connections
        with connections.writer() as client:
            types = table_types(client, connections.target.database)
        self.tombstones = Tombstones(connections)
        self._reader = Reader(connections, self.tombstones)
        self._writer = Writer(connections, types, collector)
        self._gradings = Gradings(connections, self._reader, self._writer, types)
        self.replays = Replays(connections, self._reader, self._writer, self.tombstones)
        self.generation = 0  # of the words that find facts here: rows are written under it
        self._outcomes = TableColumns("outcomes", OutcomeRow, types["outcomes"])
        self._frozen = TableColumns("frozen_runs", Frozen, types["frozen_runs"])
        self._decisions = TableColumns("gate_decisions", Decided, types["gate_decisions"])
        self._checks = Checks(connections, self._reader)
        self.judgements = Judgements(connections, self._reader, types["judgements"])
        self.collector = collector
        self.retention = Retention(connections, self._reader)
        self.removal = Removal(connections, self._reader)

    @classmethod
    def open(cls, place: StorePlace, data: Path) -> Store:
        """Open or create the store and bring it to this version.

        Raises StoreError when another process holds it, the server is away or newer than us.
        """
        connections = Connections(Target(place.url, Path(data), place.cluster))
        try:
            with connections.writer() as client:
                migrate(client, lambda statement: render(statement, cluster=place.cluster))
            store = cls(connections, f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}")
            store.repair()
        except BaseException:
            connections.close()
            raise
        return store

    @property
    def embedded(self) -> bool:
        return self._connections.target.embedded

    @property
    def target(self) -> Target:
        """Where it is, with secrets: for handles beside the store's own."""
        return self._connections.target

    @property
    def name(self) -> str:
        """Where it is, without secrets."""
        return self._connections.target.name

    def insert(self, batch: Batch) -> list[Rejected]:
        """Keep a batch of spans and logs. Safe to repeat; a row that no table can hold comes back, the rest is kept."""
        return self._writer.insert(batch)

    def now_ns(self) -> int:
        """The store's clock: what is quiet is measured on it."""
        return int(self._reader.rows("SELECT toUnixTimestamp64Nano(now64(9))")[0][0])

    def arrivals_since(self, since_ns: int) -> list[Arrival]:
        """Units that received spans or logs at or after `since_ns` of the store's clock, oldest first."""
        self._gradings.count()  # graders ask every second: what was put off is counted by then
        return self._reader.arrivals_since(since_ns)

    def touched_since(self, since_ns: int) -> list[tuple[str, str, int]]:
        """Units to judge again although nothing of theirs arrived: project, unit, ns of the store's clock."""
        return self._reader.touched_since(since_ns)

    def graded_since(self, since_ns: int) -> dict[Key, int]:
        """When the (project, unit) of runs graded closed since then were read, by the store's clock: what a
        collector that starts again need not grade again.
        """
        sql = """SELECT project, arrayJoin(units) AS unit, max(as_of_ns) FROM runs FINAL
            WHERE NOT open AND as_of_ns > 0 AND graded_at >= fromUnixTimestamp64Nano({since:Int64})
            GROUP BY project, unit"""
        return {(project, unit): at for project, unit, at in self._reader.rows(sql, since=since_ns)}

    def read_units(self, units: Sequence[Key]) -> dict[Key, Unit]:
        """Everything known of the connected set each (project, unit) is in."""
        return self._reader.read_units(units) if units else {}

    def write_gradings(self, gradings: Sequence[Grading]) -> list[Grading]:
        """Write revisions, recount their hours; those written: not what a stored one with more inputs beats."""
        if not gradings:
            return []
        return self._gradings.write(gradings, self.now_ns() // 1_000_000)

    def outcomes_of(self, runs: Iterable[Key]) -> dict[Key, list[Outcome]]:
        """Outcomes sent for (project, run_id), without those that telemetry carries."""
        return self._reader.outcomes_of(runs)

    def add_outcomes(self, outcomes: Sequence[tuple[str, Outcome]]) -> set[Key]:
        """Keep outcomes by project, known run or not, and ask for a new judgement of the units they may belong to.

        Returns the runs that were removed: what is said of them is not kept.
        """
        with self._connections.writer():  # no run is removed between the look and the insert
            meant = {(project, outcome.run_id) for project, outcome in outcomes}
            gone = {run for run in meant if self.tombstones.find(*run) is not None}
            kept = [(project, outcome) for project, outcome in outcomes if (project, outcome.run_id) not in gone]
            if kept:
                rows = [outcome_row(project, outcome, from_telemetry=False) for project, outcome in kept]
                self._connections.insert("outcomes", self._outcomes.arrow(rows))
        self._writer.touch(self._units_meant(meant - gone))
        return gone

    def freeze(self, runs: Sequence[Key], *, frozen: bool) -> None:
        """Keep the results of runs as they are, or let them go and ask for a new judgement."""
        rows = [Frozen(project, run_id, frozen) for project, run_id in runs]
        self._connections.insert("frozen_runs", self._frozen.arrow(rows))
        if not frozen:
            self._writer.touch(self._units_meant(set(runs)))

    def frozen_of(self, runs: Iterable[Key]) -> set[Key]:
        """Which of the runs are frozen."""
        asked = sorted(set(runs))
        found = self._reader.rows(statement("grade/frozen"), keys=asked) if asked else ()
        return {(project, run_id) for project, run_id in found}

    def log_decision(self, decided: Decided) -> None:
        """Keep what a gate decided, as it was decided."""
        self._connections.insert("gate_decisions", self._decisions.arrow([decided]))

    def join_answers(self, units: Sequence[Key]) -> set[Key]:
        """Tie evaluations without a trace to the model calls they are about, by response id; the (project, trace) tied.

        Done when such an evaluation is looked at, not when a model call is stored: calls are many, evaluations few.
        """
        pairs = self._reader.answered(units)
        self._writer.join(pairs)
        tied = {(project, trace) for project, _, trace in pairs}
        self._writer.touch(sorted(tied))
        return tied

    def touch_runs(self, runs: Iterable[Key]) -> None:
        """Ask for a new judgement of runs, by (project, run_id)."""
        self._writer.touch(self._units_meant(set(runs)))

    def touch(self, units: Sequence[Key]) -> None:
        """Ask every collector for a new judgement of the units."""
        self._writer.touch(units)

    def tasks_with_outcomes(self, tasks: Iterable[Task]) -> set[Task]:
        """Which of the tasks ever had a run judged with an outcome."""
        asked = sorted(set(tasks))
        sql = """SELECT project, task_id, task_version FROM task_versions
            WHERE (project, task_id, task_version) IN {tasks:Array(Tuple(String, String, String))}
            GROUP BY ALL HAVING max(has_outcome) = 1"""
        return {(p, t, v) for p, t, v in (self._reader.rows(sql, tasks=asked) if asked else ())}

    def units_of_task(self, project: str, task_id: str, task_version: str) -> list[str]:
        """One unit of each run of the task: to judge them again when it receives its first outcome."""
        sql = """SELECT DISTINCT units[1] FROM runs FINAL WHERE project = {project:String} AND task_id = {task:String}
            AND task_version = {version:String} AND alive ORDER BY ALL"""
        return [unit for (unit,) in self._reader.rows(sql, project=project, task=task_id, version=task_version)]

    def graded_to(self) -> tuple[int, int]:
        """What was stored before the first (ns of the store's clock) needs no grading; when the oldest arrival was."""
        [(mark_ns, oldest_ns)] = self._reader.rows(statement("grade/horizon"))
        return int(mark_ns), int(oldest_ns)

    def mark_graded(self, at_ns: int) -> None:
        """Write down that what was stored before needs no grading any more, or is asked for anew."""
        with self._connections.writer() as client:
            client.insert("grading_marks", [[at_ns]], column_names=["at_ns"])

    def left_behind(self) -> list[Key]:
        """A (project, unit) of each run that is judged by trajectory though its task has outcomes."""
        return [(project, unit) for project, unit in self._reader.rows(statement("grade/left_behind"))]

    def awaiting_outcomes(self) -> list[tuple[str, str, int]]:
        """Project, unit and end (ns) of each closed run that awaits an outcome though its task has none."""
        return [(project, unit, ns) for project, unit, ns in self._reader.rows(statement("grade/awaiting_outcomes"))]

    def register_checks(self, digest: str, definitions: str) -> int:
        """The epoch of a set of checks: the one it has, when it is the newest, else the next."""
        return self._checks.register(digest, definitions)

    def register_words(self, digest: str) -> int:
        """The generation of a set of words: the one it has, when it is the newest, else the next."""
        self.generation = self.replays.register(digest)
        return self.generation

    def checks_in_force(self) -> tuple[int, str]:
        """Epoch and digest of the newest registered checks; (0, '') before the first."""
        return self._checks.in_force()

    def set_policy(self, **values: str) -> None:
        """Policies of trials and SLOs by name (see the table `policy`), for every collector and query."""
        self._checks.set_policy(values)

    def policy(self) -> dict[str, str]:
        return self._checks.policy()

    def query(self, sql: str, parameters: Mapping[str, Any] | None = None) -> Result:
        """Rows of a query that reads; parameters are bound as `{name:Type}`. It sees every grading written before."""
        self._gradings.count(now=True)
        with self._connections.reader() as client:
            found = client.query(sql, parameters=dict(parameters or {}))
            kinds = tuple(str(kind.name) for kind in found.column_types)
            return Result(tuple(found.column_names), kinds, [tuple(row) for row in found.result_rows])

    def rows(self, sql: str, **parameters: Any) -> Sequence[Sequence[Any]]:
        """Rows of a query over runs and spans: no hour count is brought up to date for it."""
        return self._reader.rows(sql, **parameters)

    def catch_up(self) -> None:
        """Count what gradings wrote and counting put off: for readers that do not come through `query`."""
        self._gradings.count(now=True)

    def raw_query(
        self,
        sql: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        fmt: str,
        settings: Mapping[str, Any] | None = None,
    ) -> bytes:
        """The answer in a ClickHouse format, as bytes: for the SQL endpoint, which guards what it passes on."""
        self._gradings.count(now=True)
        with self._connections.reader() as client:
            return bytes(client.raw_query(sql, dict(parameters or {}), dict(settings or {}), fmt=fmt))

    def repair(self) -> int:
        """Recount hours whose counts are not of what is stored (a crash just before); how many there were."""
        stale = stale_hours(self._reader)
        recount(self._connections, stale)
        return len(stale)

    def sweep(self, older_s: int = 3600) -> None:
        """Remove trace lines of revisions that are no longer current. For once an hour: it rewrites what it touches."""
        with self._connections.writer() as client:
            client.command(statement("upkeep/old_lines"), parameters={"older_s": older_s})

    def counts(self) -> dict[str, int]:
        """Rows by table, as they lie (repeated deliveries count until merged)."""
        sql = """SELECT table, sum(rows) FROM system.parts
            WHERE database = {db:String} AND active GROUP BY table ORDER BY table"""
        return {table: int(rows) for table, rows in self._reader.rows(sql, db=self._connections.target.database)}

    def close(self) -> None:
        """Let go of the store; what was written stays."""
        try:
            self._gradings.count(now=True)
        finally:
            self._connections.close()

    def _units_meant(self, runs: set[Key]) -> list[Key]:
        """The units of runs: as graded, else by join key, else what the run id says. An outcome may come first."""
        known, joined = self._reader.units_of_runs(runs), self._reader.units_joined(runs)
        meant: set[Key] = set()
        for run in runs:
            project, run_id = run
            units = known.get(run) or joined.get(run) or [run_id.split(":")[0]]
            meant.update((project, unit) for unit in units)
        return sorted(meant)
