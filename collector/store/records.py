"""What goes into the store and what comes out of it, beside the rows of spans and logs (rows.py)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from semconv.facts import SpanFacts
from semconv.outcome import Outcome
from semconv.run import Closing, Run

if TYPE_CHECKING:
    from graders.trial import TrialResult
    from graders.verdict import Verdict


class Arrival(Struct, frozen=True):
    """One trace (or trace-less log group) that received something. Times are ns of the store's clock.

    `unit` is what `read_units` takes: the trace id, or the join key of logs without a trace. `spans` counts rows
    stored, so a repeated batch counts twice. `root`: a span without a parent was among them.
    """

    project: str
    unit: str
    trace_id: str
    first_stored_ns: int
    last_stored_ns: int
    spans: int
    root: bool
    run_end: bool


class StoredRun(Struct, frozen=True):
    """The newest row of a run written earlier, alive or withdrawn. `hour_s` is its hour, s since the epoch."""

    project: str
    run_id: str
    version: int
    revision: int
    alive: bool
    epoch: int
    inputs: int
    input_digest: str
    basis: str
    checks_version: str
    result: str
    task_id: str
    task_version: str
    hour_s: int
    prev_hours_s: tuple[int, ...]
    first_stored_ms: int
    line_count: int = 0
    closed_ns: int = 0
    flags: tuple[str, ...] = ()
    root_span_id: str = ""
    trace_ids: tuple[str, ...] = ()
    units: tuple[str, ...] = ()

    def lies_apart(self, units: Iterable[str]) -> bool:
        """Whether it was assembled from other units than these."""
        return bool(self.units) and set(self.units).isdisjoint(units)


class Unit(Struct, frozen=True):
    """All that is known of one connected set of traces.

    `members` are its units (trace ids and join keys of trace-less logs), sorted, the same whichever member was
    asked for. `facts` holds each span once: its newest version, flagged `id_conflict` when an older one differed.
    """

    project: str
    members: tuple[str, ...]
    trace_ids: tuple[str, ...] = ()
    join_keys: tuple[str, ...] = ()
    facts: tuple[SpanFacts, ...] = ()
    runs: tuple[StoredRun, ...] = ()
    removed: int = 0  # inputs that went with removed runs
    closed: tuple[tuple[str, int], ...] = ()  # removed runs and when they were closed (ns)

    @property
    def closures(self) -> dict[str, Closing]:
        """How each run that was here before was closed: a root that begins later is a new run's."""
        known = {
            run.run_id: Closing(run.closed_ns, run.root_span_id, run.trace_ids)
            for run in self.runs
            if run.alive and run.closed_ns
        }
        return {**{run_id: Closing(at_ns) for run_id, at_ns in self.closed}, **known}


class Grading(Struct, frozen=True):
    """One revision of one run: everything that is written together, or not at all.

    `inputs` counts the distinct spans, logs and outcomes it was built from, `epoch` is the checks' registration,
    `generation` the newest words that found facts among them: together they order revisions, whoever graded first.
    `outcomes` are all that counted towards the result. `actions` holds the action kinds of a call by line number.
    `members` are those of the unit it was assembled from (the run's traces when empty), `as_of_ns` the store's clock
    when that was read. `alive=False` withdraws the run.
    """

    run: Run
    verdicts: tuple[Verdict, ...]
    trial: TrialResult
    basis: str
    checks_version: str
    epoch: int
    inputs: int
    input_digest: str
    outcomes: tuple[Outcome, ...] = ()
    alive: bool = True
    actions: Mapping[int, tuple[str, ...]] = {}
    members: tuple[str, ...] = ()
    as_of_ns: int = 0
    generation: int = 0

    @property
    def units(self) -> tuple[str, ...]:
        """Under which units the run is found again: a run of logs alone has no trace."""
        return self.members or self.run.trace_ids or (self.run.run_id,)


class Result(Struct, frozen=True):
    """Rows of a query. `types` are ClickHouse type names; DateTime columns are aware datetimes in UTC."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: list[tuple[Any, ...]]

    def dicts(self) -> list[dict[str, Any]]:
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]
