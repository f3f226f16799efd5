"""What other checks would have said of stored runs: nothing is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from collector.grade.grader import Grader, Task, task_of
from collector.grade.workspaces import flag_shared
from collector.judge.answers import add_answers
from collector.store.records import StoredRun, Unit
from collector.store.store import Store
from graders.verdict import Verdict
from semconv.run import Run

UnitKey = tuple[str, str]
BATCH_UNITS = 100
EXAMPLES = 5
MOST_CHANGED = 100


class Example(Struct, frozen=True):
    """A run of which a check would say this."""

    run_id: str
    status: str
    reason: str
    lines: tuple[int, ...]


class CheckTally(Struct):
    """One check: how often it would say what, with examples of everything but pass and not_applicable."""

    check_id: str
    counts: dict[str, int] = field(default_factory=dict)
    examples: list[Example] = field(default_factory=list)

    def add(self, run: Run, verdict: Verdict) -> None:
        self.counts[verdict.status] = self.counts.get(verdict.status, 0) + 1
        if verdict.status not in ("pass", "not_applicable") and len(self.examples) < EXAMPLES:
            self.examples.append(Example(run.run_id, verdict.status, verdict.reason, verdict.lines))


class Changed(Struct, frozen=True):
    """A trial whose result would be another."""

    run_id: str
    task_id: str
    before: str
    after: str


class Rehearsal(Struct):
    """All that was looked at. `changed` lists the first hundred, `changes` counts by `before → after`."""

    runs: int = 0
    checks: dict[str, CheckTally] = field(default_factory=dict)
    changes: dict[str, int] = field(default_factory=dict)
    changed: list[Changed] = field(default_factory=list)

    def add(self, run: Run, verdicts: Sequence[Verdict], before: StoredRun | None, after: str) -> None:
        """Take in one run as it was and as it would be."""
        self.runs += 1
        for verdict in verdicts:
            self.checks.setdefault(verdict.check_id, CheckTally(verdict.check_id)).add(run, verdict)
        if before is None or before.result == after:
            return
        change = f"{before.result} → {after}"
        self.changes[change] = self.changes.get(change, 0) + 1
        if len(self.changed) < MOST_CHANGED:
            self.changed.append(Changed(run.run_id, run.task_id, before.result, after))


def rehearse(store: Store, grader: Grader, units: Sequence[UnitKey]) -> Rehearsal:
    """Grade stored units with the grader's checks. Raises StoreError."""
    said = Rehearsal()
    for start in range(0, len(units), BATCH_UNITS):
        some = units[start : start + BATCH_UNITS]
        for unit in _distinct(store.read_units(some).values()):
            _add_unit(said, store, grader, unit)
    return said


def _distinct(units: object) -> Iterator[Unit]:
    seen: set[tuple[str, ...]] = set()
    for unit in units:  # type: ignore[attr-defined]
        if unit.members not in seen:
            seen.add(unit.members)
            yield unit


def _add_unit(said: Rehearsal, store: Store, grader: Grader, unit: Unit) -> None:
    one = grader.assembled(unit, "root")
    flag_shared(store, grader, [one])
    add_answers(store, grader.checks, one.graded())
    runs = one.assembly.runs
    stored = store.outcomes_of((unit.project, run.run_id) for run in runs)
    for run, outcomes in zip(runs, one.outcomes, strict=True):
        outcomes.extend(stored.get((unit.project, run.run_id), ()))
    tasks: set[Task] = store.tasks_with_outcomes(task_of(run) for run in runs) | one.with_outcomes()
    before = {row.run_id: row for row in unit.runs if row.alive}
    for grading in grader.gradings(one, tasks, store.now_ns()):
        if grading.alive:
            said.add(grading.run, grading.verdicts, before.get(grading.run.run_id), grading.trial.result)
