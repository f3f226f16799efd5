"""Stored answers of models into the verdicts of a grading: each only for the very content it was given for."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from collector.store.store import Store
from graders.checks.judge import WAITING
from graders.checkset import CheckSet
from graders.verdict import Verdict
from semconv.run import Run


class Graded(Struct):
    """A run and what the checks say of it; answers go into `verdicts`."""

    project: str
    run: Run
    verdicts: list[Verdict]


def waits(verdict: Verdict) -> bool:
    """Whether a model's answer is what the verdict lacks."""
    return verdict.kind == "judge" and verdict.status == "unknown" and verdict.reason == WAITING


def add_answers(store: Store, checks: CheckSet, graded: Sequence[Graded]) -> None:
    """Fill in what is known. Without `judge` checks the store is not asked. Raises StoreError."""
    open_ones = [one for one in graded if any(waits(verdict) for verdict in one.verdicts)]
    known = store.judgements.of_runs((one.project, one.run.run_id) for one in open_ones)
    judges = {check.id: check.judge for check in checks.checks if check.judge is not None}
    for one in open_ones:
        answers = {
            (answer.check_id, answer.check_version, answer.input_digest): answer
            for answer in known.get((one.project, one.run.run_id), ())
        }
        for at, verdict in enumerate(one.verdicts):
            judge = judges.get(verdict.check_id)
            if not answers or judge is None or not waits(verdict):
                continue
            answer = answers.get((verdict.check_id, verdict.check_version, judge.question(one.run).digest))
            if answer is not None:
                status, reason, lines = answer.status, answer.reason, answer.lines
                one.verdicts[at] = replace(verdict, status=status, reason=reason, lines=lines)
