"""Judging runs whose spans are gone by retention: from the lines and verdicts that were kept.

A pull request reverted after a hundred days still counts against the run that made it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from collector.grade.due import SECOND_NS
from collector.grade.grader import Grader, Task, task_of
from collector.judge.answers import Graded, add_answers
from collector.store.grading_rows import line_of
from collector.store.otlp_json import of_key_values
from collector.store.records import Grading, Unit
from collector.store.sqlfiles import statement
from collector.store.store import Store
from graders.outcomes import outcome_in_force
from graders.trial import judge
from graders.verdict import Verdict
from semconv.outcome import Outcome
from semconv.run import Run

Row = dict[str, Any]
GENERATION_BITS, GENERATION_AT = 12, 32  # where collector/store/grading_rows.py puts it into a version
VERDICT_COLUMNS = ("kind", "axis", "gate", "severity", "on_fail", "status", "reason", "fix", "lines")


class Remembered(msgspec.Struct, frozen=True):
    """A run as it was last judged, and every outcome known of it now."""

    row: Row
    run: Run
    verdicts: tuple[Verdict, ...]
    outcomes: tuple[Outcome, ...]

    @property
    def whole(self) -> bool:
        """Whether all its lines are still there."""
        return bool(len(self.run.lines) == self.row["line_count"])

    @property
    def outcome(self) -> Outcome | None:
        return outcome_in_force(self.outcomes, self.verdicts)


def remembered(store: Store, unit: Unit) -> list[Remembered]:
    """The closed runs of a unit. Raises StoreError."""
    keys = [(unit.project, run.run_id) for run in unit.runs if run.alive]
    rows = store.query(statement("grade/remembered_runs"), {"keys": keys}).dicts() if keys else []
    return [_remembered(store, row) for row in rows if not row["open"]]


def run_of(store: Store, project: str, run_id: str) -> Run | None:
    """A closed run as its kept lines tell it, None when there is none, or not all lines. Raises StoreError."""
    rows = store.query(statement("grade/remembered_runs"), {"keys": [(project, run_id)]}).dicts()
    found = _remembered(store, rows[0]) if rows and not rows[0]["open"] else None
    return found.run if found is not None and found.whole else None


def with_outcomes(runs: Sequence[Remembered]) -> set[Task]:
    """The tasks that are on basis `outcome` by these runs."""
    return {task_of(one.run) for one in runs if one.outcome is not None and one.outcome.result in ("pass", "fail")}


def rejudged(
    store: Store, grader: Grader, runs: Sequence[Remembered], outcome_tasks: set[Task], now_ns: int
) -> Iterator[Grading]:
    """A grading of each run that would now be judged another way; by the checks in force where its lines are kept."""
    for one in runs:
        grading = _grading(store, grader, one, outcome_tasks, now_ns)
        row, trial = one.row, grading.trial
        before = (row["result"], row["reason"], row["outcome"], row["basis"], row["epoch"])
        after = (trial.result, trial.reason, trial.outcome, grading.basis, grading.epoch)
        if before != after or grading.verdicts != one.verdicts:
            yield grading


def _grading(store: Store, grader: Grader, one: Remembered, outcome_tasks: set[Task], now_ns: int) -> Grading:
    row, run = one.row, one.run
    again = one.whole and row["epoch"] != grader.epoch
    graded = Graded(run.project, run, grader.verdicts_of(run) if again else list(one.verdicts))
    add_answers(store, grader.checks, [graded])
    verdicts = tuple(graded.verdicts)
    basis = "outcome" if row["basis"] == "outcome" or task_of(run) in outcome_tasks else "trajectory"
    outcome = outcome_in_force(one.outcomes, verdicts)
    age_s = max(0.0, (now_ns - run.ended_ns) / SECOND_NS)
    return Grading(
        run=run,
        verdicts=verdicts,
        trial=judge(run, verdicts, outcome, basis, grader.checks.policy, age_s),  # type: ignore[arg-type]
        basis=basis,
        checks_version=grader.checks.version_for(run) if again else row["checks_version"],
        epoch=grader.epoch if again else row["epoch"],
        inputs=row["inputs"],
        input_digest=_digest(one, basis),
        outcomes=one.outcomes,
        actions=grader.checks.actions(run),
        members=tuple(row["units"]),
        as_of_ns=now_ns,
        generation=row["version"] >> GENERATION_AT & (1 << GENERATION_BITS) - 1,
    )


def _digest(one: Remembered, basis: str) -> str:
    parts = ("remembered", str(one.row["line_count"]), basis, *sorted(map(repr, one.outcomes)))
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=16).hexdigest()


def _remembered(store: Store, row: Row) -> Remembered:
    key = {"project": row["project"], "run_id": row["run_id"]}
    found = store.query(statement("grade/remembered_lines"), {**key, "version": row["version"]}).dicts()
    said = store.query(statement("grade/remembered_outcomes"), key).rows
    outcomes = tuple(
        Outcome(row["run_id"], result, source, reason, score, time_ns, outcome_id)
        for result, source, reason, score, time_ns, outcome_id in said
    )
    return Remembered(row, _run(row, [line_of(line) for line in found]), tuple(_verdicts(row)), outcomes)


def _run(row: Row, lines: Sequence[Any]) -> Run:
    names = set(Run.__struct_fields__) - {"lines", "attributes", "outcomes"}
    values: Row = {name: tuple(row[name]) if isinstance(row[name], list) else row[name] for name in names}
    attributes = of_key_values(msgspec.json.decode(row["attributes"] or "[]"))
    return Run(**values, lines=tuple(lines), attributes=attributes)


def _verdicts(row: Row) -> Iterator[Verdict]:
    columns = [row["check_id"], row["check_version"], *(row[f"check_{name}"] for name in VERDICT_COLUMNS)]
    for check_id, version, *values in zip(*columns, strict=True):
        told = dict(zip(VERDICT_COLUMNS, values, strict=True)) | {"lines": tuple(values[-1])}
        yield Verdict(check_id=check_id, check_version=version, **told)
