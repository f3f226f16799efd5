"""Closed runs in the order they were graded: read from the store, so nothing is lost with a process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from collector.store.sqlfiles import statement
from collector.store.store import Store

PAGE = 200
# Between the moment a server stamps a row and the moment it shows it, another row may be stamped later and shown
# earlier. One process that writes one batch at a time has no such moment.
HOLD_BACK_NS = 15_000_000_000


class GradedVerdict(Struct, frozen=True):
    """What one check says of a run."""

    check_id: str
    kind: str
    axis: str
    gate: bool
    severity: str
    version: str
    status: str
    reason: str
    fix: str
    lines: Sequence[int]


class GradedRun(Struct, frozen=True):
    """The current revision of a closed run. `trace_id` is that of its root span; '' for a run of logs alone."""

    project: str
    run_id: str
    revision: int
    checks_version: str
    graded_ns: int
    task_id: str
    task_version: str
    task_class: str
    trial_id: str
    experiment_id: str
    result: str
    reason: str
    outcome: str
    basis: str
    trace_id: str
    root_span_id: str
    ended_ms: int
    hour_s: int
    verdicts: tuple[GradedVerdict, ...]

    @property
    def task(self) -> tuple[str, str, str]:
        return (self.project, self.task_id, self.task_version)


class Page(Struct, frozen=True):
    """Some graded runs, and up to when all have been seen (ns of the store's clock)."""

    runs: tuple[GradedRun, ...]
    read_to_ns: int
    more: bool


def graded_after(store: Store, since_ns: int) -> Page:
    """Runs graded after `since_ns`, a page of them. Raises StoreError."""
    until = store.now_ns() - (0 if store.embedded else HOLD_BACK_NS)
    if until <= since_ns:
        return Page((), since_ns, more=False)
    keys = store.rows(statement("out/graded_keys"), since=since_ns, until=until, limit=PAGE)
    if not keys:
        return Page((), since_ns, more=False)
    wanted = sorted({(project, run_id) for project, run_id, _ in keys})
    return Page(_runs(store, wanted), int(keys[-1][2]), more=len(keys) >= PAGE)


def _runs(store: Store, keys: Sequence[tuple[str, str]]) -> tuple[GradedRun, ...]:
    rows = store.rows(statement("out/graded_runs"), keys=list(keys))
    roots = _root_traces(store, [(row[0], row[14], row[15]) for row in rows])
    return tuple(_run(row, _trace_of(row[0], row[14], row[15], roots)) for row in rows)


def _run(row: Sequence[Any], trace_id: str) -> GradedRun:
    verdicts = tuple(GradedVerdict(*told) for told in row[18])
    values = [*row[:14], trace_id, *row[15:18], verdicts]
    return GradedRun(*values)


def _root_traces(store: Store, runs: Sequence[tuple[str, Sequence[str], str]]) -> set[tuple[str, str, str]]:
    """(project, trace, span) of the root spans of runs that have several traces."""
    joined = [(project, traces, root) for project, traces, root in runs if len(traces) > 1 and root]
    if not joined:
        return set()
    keys = sorted({(project, trace) for project, traces, _ in joined for trace in traces})
    found = store.rows(statement("out/root_traces"), keys=keys, spans=sorted({root for _, _, root in joined}))
    return {(project, trace, span) for project, trace, span in found}


def _trace_of(project: str, traces: Sequence[str], root: str, roots: set[tuple[str, str, str]]) -> str:
    if len(traces) == 1:
        return traces[0]
    return next((trace for trace in traces if (project, trace, root) in roots), traces[0] if traces else "")
