"""Units → gradings: assemble, grade, judge. Everything it needs to know comes in; nothing is written here."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable, Sequence

from msgspec import Struct

from collector.assemble import Assembly, Policy, assemble
from collector.grade.due import SECOND_NS
from collector.judge.answers import Graded
from collector.store.records import Grading, Unit
from graders.checks.external import Runner
from graders.checkset import CheckSet
from graders.outcomes import outcome_in_force
from graders.trial import AWAITING_OUTCOME, Basis, judge
from graders.verdict import Verdict
from semconv.facts import NORMALISER_VERSION
from semconv.outcome import Outcome
from semconv.run import ClosedBy, Run

Task = tuple[str, str, str]  # project, task_id, task_version
SHARED_WORKSPACE = "shared_workspace"  # the flag of runs that another one met in its workspace


class Assembled(Struct):
    """A unit as read and its runs, each with its verdicts and every outcome known of it."""

    unit: Unit
    closed_by: ClosedBy
    assembly: Assembly
    verdicts: list[list[Verdict]]
    outcomes: list[list[Outcome]]

    def graded(self) -> list[Graded]:
        """Its runs, each with the list of its verdicts itself: answers of models go in there."""
        runs = zip(self.assembly.runs, self.verdicts, strict=True)
        return [Graded(self.unit.project, run, verdicts) for run, verdicts in runs]

    def with_outcomes(self, frozen: Container[tuple[str, str]] = ()) -> set[Task]:
        """The tasks of this unit's runs that have an outcome: they put their task on basis `outcome`.

        Not those of `frozen` runs, by (project, run_id): their results do not move, and so no task does by them.

        Only pass and fail do. One rate limit reported as `error` would else leave every other run of a task without
        reported outcomes awaiting one (tests/cases I19).
        """
        found = set()
        for run, outcomes, verdicts in zip(self.assembly.runs, self.outcomes, self.verdicts, strict=True):
            outcome = outcome_in_force(outcomes, verdicts)
            is_frozen = (self.unit.project, run.run_id) in frozen
            if outcome is not None and outcome.result in ("pass", "fail") and not is_frozen:
                found.add(task_of(run))
        return found


class Snapshot(Struct, frozen=True):
    """What one grading of a unit rests on: the unit as read at `now_ns`, and how many inputs it had."""

    unit: Unit
    inputs: int
    outcome_tasks: set[Task]
    now_ns: int

    @property
    def generation(self) -> int:
        """The newest words that found facts of the unit."""
        return max((facts.generation for facts in self.unit.facts), default=0)


class Grader:
    """The checks and the policies in force, applied."""

    def __init__(self, checks: CheckSet, assembly: Policy, epoch: int, runner: Runner | None = None) -> None:
        self.checks = checks
        self._runner = runner
        self.epoch = epoch
        self._assembly = assembly

    def assembled(self, unit: Unit, closed_by: ClosedBy) -> Assembled:
        """The runs of a unit with their verdicts; outcomes stored from elsewhere are added by the loop."""
        assembly = assemble(unit.facts, closed_by=closed_by, policy=self._assembly, closures=unit.closures)
        return Assembled(
            unit=unit,
            closed_by=closed_by,
            assembly=assembly,
            verdicts=[self.verdicts_of(run) for run in assembly.runs],
            outcomes=[list(run.outcomes) for run in assembly.runs],
        )

    def verdicts_of(self, run: Run) -> list[Verdict]:
        """What the checks in force say of a run."""
        return self.checks.grade(run, runner=self._runner)

    def gradings(self, one: Assembled, outcome_tasks: set[Task], now_ns: int) -> list[Grading]:
        """One grading per run of the unit, and a withdrawal for each run it no longer has.

        `now_ns`: the store's clock before the unit was read.
        """
        runs = one.assembly.runs
        # Telemetry is an input itself; outcomes from elsewhere count beside it.
        sent = sum(len(known) - len(run.outcomes) for run, known in zip(runs, one.outcomes, strict=True))
        inputs = len(one.unit.facts) + one.unit.removed + sent
        if inputs < max((row.inputs for row in one.unit.runs if row.alive), default=0):
            # Retention took spans away: what is left must not overwrite what was judged on all of them.
            return []
        snapshot = Snapshot(one.unit, inputs, outcome_tasks, now_ns)
        made = [
            self._grading(run, verdicts, outcomes, snapshot)
            for run, verdicts, outcomes in zip(runs, one.verdicts, one.outcomes, strict=True)
        ]
        kept = {run.run_id for run in runs}
        gone = [row.run_id for row in one.unit.runs if row.alive and row.run_id not in kept]
        return [*made, *(self._withdrawal(run_id, snapshot) for run_id in gone)]

    def _grading(self, run: Run, verdicts: list[Verdict], outcomes: list[Outcome], snapshot: Snapshot) -> Grading:
        basis: Basis = "outcome" if task_of(run) in snapshot.outcome_tasks else "trajectory"
        outcome = outcome_in_force(outcomes, verdicts)
        policy, age_s = self.checks.policy, max(0.0, (snapshot.now_ns - run.ended_ns) / SECOND_NS)
        trial = judge(run, verdicts, outcome, basis, policy, age_s)
        young = " young" if age_s < policy.mature_s and trial.reason == AWAITING_OUTCOME else ""
        return Grading(
            run=run,
            verdicts=tuple(verdicts),
            trial=trial,
            basis=basis,
            checks_version=self.checks.version_for(run),
            epoch=self.epoch,
            inputs=snapshot.inputs,
            input_digest=digest_of(snapshot.unit, run, outcomes, basis + young, verdicts),
            outcomes=tuple(outcomes),
            actions=self.checks.actions(run),
            members=snapshot.unit.members,
            as_of_ns=snapshot.now_ns,
            generation=snapshot.generation,
        )

    def _withdrawal(self, run_id: str, snapshot: Snapshot) -> Grading:
        """It was a run when less was known; its spans now belong to another."""
        unit = snapshot.unit
        run = Run(project=unit.project, run_id=run_id, lines=(), closed_by="root", trace_ids=unit.trace_ids)
        return Grading(
            run=run,
            verdicts=(),
            trial=judge(run, [], None, "trajectory", self.checks.policy),
            basis="trajectory",
            checks_version="",
            epoch=self.epoch,
            inputs=snapshot.inputs,
            input_digest="withdrawn",
            alive=False,
            members=unit.members,
            as_of_ns=snapshot.now_ns,
            generation=snapshot.generation,
        )


def task_of(run: Run) -> Task:
    return (run.project, run.task_id, run.task_version)


def digest_of(unit: Unit, run: Run, outcomes: Sequence[Outcome], basis: str, verdicts: Sequence[Verdict] = ()) -> str:
    """What went into a grading: equal digest, nothing to write. Not the lines: a price table must not regrade."""
    parts: Iterable[str] = (
        *sorted(f"{facts.content_hash} {facts.facts_hash}" for facts in unit.facts),
        *sorted(repr(outcome) for outcome in outcomes),
        f"normaliser {NORMALISER_VERSION}",
        f"closed {run.closed_by}",
        f"basis {basis}",
        *(flag for flag in run.flags if flag == SHARED_WORKSPACE),  # what other runs did
        *(f"judge {one.check_id} {one.status} {one.reason}" for one in verdicts if one.kind == "judge"),
    )
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=16).hexdigest()
