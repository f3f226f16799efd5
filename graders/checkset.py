"""All checks in force, compiled once: what grades a run, and the version its verdicts belong to."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from graders.actions import TABLE_VERSION, ActionTable
from graders.call import BUILT_IN_TAGS, TURN_TAGS
from graders.cases import checks_of_case
from graders.check import Check
from graders.checks.external import Runner
from graders.defaults import ADVISORY, GATING
from graders.errors import CheckError
from graders.library import from_library
from graders.predicate import Tags
from graders.trace import Trace
from graders.trial import TrialPolicy
from graders.verdict import Verdict
from semconv.run import Run

_ACTION_TAGS = frozenset(BUILT_IN_TAGS) - TURN_TAGS
_GLOB = frozenset("*?[")


class CheckSet:
    """Build with `CheckSet.compile`. What it says depends on nothing but the run; may be shared by threads."""

    def __init__(
        self,
        checks: Sequence[Check],
        table: ActionTable,
        policy: TrialPolicy,
        actions: Mapping[str, Any],
    ) -> None:
        self.checks = tuple(checks)
        self.policy = policy
        self._table = table
        self._actions = dict(actions)
        self._general = tuple(check for check in checks if not _exact_tasks(check))
        self._by_task: dict[str, list[Check]] = {}
        for check in checks:
            for task in _exact_tasks(check):
                self._by_task.setdefault(task, []).append(check)
        self._versions: dict[tuple[str, str], str] = {}
        self._last: Trace | None = None
        self.digest = _digest([check.version for check in checks if check.decides], policy.meaning, self._actions)

    @classmethod
    def compile(
        cls,
        checks: Sequence[Mapping[str, Any]] | None = None,
        tags: Mapping[str, str] | None = None,
        actions: Mapping[str, Any] | None = None,
        policy: TrialPolicy | None = None,
        cases: Sequence[Mapping[str, Any]] = (),
    ) -> CheckSet:
        """Compile checks, tags, actions and cases. Checks that are None are the default ones, an empty list is none.

        Raises `CheckError` with the check, the key and the position.
        """
        in_force = Tags(tags or {})
        table = ActionTable(actions)
        named = [(from_library(written), True) for written in checks or ()]
        if checks is None:
            named = [*((written, True) for written in GATING), *((written, False) for written in ADVISORY)]
        for case in cases:
            named += [(written, True) for written in checks_of_case(case)]
        compiled = [Check(written, in_force, named=asked) for written, asked in named]
        _refuse_twins(compiled)
        return cls(compiled, table, policy or TrialPolicy(), actions or {})

    def for_run(self, task_id: str, task_class: str) -> tuple[Check, ...]:
        """The checks for runs of a task, in the order they are written."""
        own = self._by_task.get(task_id, [])
        general = [check for check in self._general if check.applies_to(task_id, task_class)]
        if not own:
            return tuple(general)
        wanted = {id(check) for check in (*general, *(check for check in own if check.applies_to(task_id, task_class)))}
        return tuple(check for check in self.checks if id(check) in wanted)

    def grade(self, run: Run, *, runner: Runner | None = None) -> list[Verdict]:
        """One verdict for each check that is for the run's task. `runner` runs `python` and `command` checks."""
        trace = self.trace(run)
        return [check.grade(trace, runner) for check in self.for_run(run.task_id, run.task_class)]

    def trace(self, run: Run) -> Trace:
        """The run as the checks see it: its calls with their actions. The last one is kept for whoever asks next."""
        last = self._last
        if last is None or last.run is not run:
            last = self._last = Trace(run, self._table)
        return last

    def actions(self, run: Run) -> dict[int, tuple[str, ...]]:
        """The kinds of action of each call that did something, by its line number. A failed edit is none."""
        found = {call.n: tuple(call.field("actions")) for call in self.trace(run).calls}
        return {n: kinds for n, kinds in found.items() if kinds}

    def evidence(self, run: Run) -> dict[str, list[int]]:
        """The line numbers of the run's `edits` and `test_runs`."""
        return self.trace(run).evidence

    def version_for(self, run: Run) -> str:
        """The checks version of a run: what decides its result, whether or not it found anything to judge."""
        key = (run.task_id, run.task_class)
        if key not in self._versions:
            if len(self._versions) > 10_000:  # task ids come from outside
                self._versions.clear()
            checks = [check for check in self.for_run(*key) if check.decides]
            self._versions[key] = _digest(
                [check.version for check in checks], self.policy.meaning, self._actions_used(checks)
            )
        return self._versions[key]

    def _actions_used(self, checks: Sequence[Check]) -> dict[str, Any]:
        names = (
            frozenset[str]().union(*(check.names | check.fields for check in checks)) if checks else frozenset[str]()
        )
        uses_table = bool(names & (_ACTION_TAGS | {"actions", "tags", "counts"}))
        used: dict[str, Any] = dict(self._actions) if uses_table else {}
        return used | ({"table": TABLE_VERSION} if uses_table else {})


def _digest(versions: Sequence[str], policy: Mapping[str, Any], actions: Mapping[str, Any]) -> str:
    meaning = {"checks": sorted(versions), "policy": policy, "actions": actions}
    return hashlib.sha256(msgspec.json.encode(meaning, order="deterministic", enc_hook=str)).hexdigest()[:16]


def _exact_tasks(check: Check) -> tuple[str, ...]:
    """Task ids a check is bound to, () when it has globs or is for all tasks."""
    return check.tasks if not any(_GLOB.intersection(task) for task in check.tasks) else ()


def _refuse_twins(checks: Sequence[Check]) -> None:
    seen: set[str] = set()
    for check in checks:
        if check.id in seen:
            raise CheckError("there are two checks of this id", check_id=check.id, key="id")
        seen.add(check.id)
