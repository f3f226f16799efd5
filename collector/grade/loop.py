"""The due-run loop: which units are due is read from the store, so any collector may have received any span."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable

from collector.grade.due import NEVER_NS, SECOND_NS, Due, DuePolicy, UnitState, closes_at, in_batches, looks_at
from collector.grade.grader import Assembled, Grader, Task, task_of
from collector.grade.horizon import Horizon
from collector.grade.remembered import Remembered, rejudged, remembered, with_outcomes
from collector.grade.ripening import Ripening
from collector.grade.workspaces import flag_shared
from collector.judge.answers import add_answers
from collector.metrics import Metrics
from collector.store.reader import RESPONSE_KEY
from collector.store.records import Grading, Unit
from collector.store.store import Store
from collector.telemetry import Trace, untraced
from semconv.run import ClosedBy

log = logging.getLogger("passhat.grade")

UnitKey = tuple[str, str]  # project, unit
OVERLAP_NS = 60 * SECOND_NS  # insert order is not time order: now and then look again at the last minute,
SHORT_OVERLAP_NS = 2 * SECOND_NS  # and each time at the last two seconds
SWEEP_NS = 10 * SECOND_NS
AGREE_NS = 3600 * SECOND_NS
POLL_S = 1.0  # another collector may have stored something


class GradeLoop:
    """One thread that tails arrivals, keeps due times and grades what is due.

    It holds nothing that the store does not: at start it reads arrivals from the mark of its horizon and goes on.
    """

    def __init__(self, store: Store, grader: Grader, policy: DuePolicy, metrics: Metrics) -> None:
        self._store = store
        self._grader = grader
        self._policy = policy
        self._metrics = metrics
        self._units: dict[UnitKey, UnitState] = {}
        self._pending: set[UnitKey] = set()
        self._read_to_ns = 0
        self._swept_ns = 0
        self._agreed_ns = 0
        self._ripening = Ripening(grader.checks.policy)
        self._horizon = Horizon(store, policy.max_age_s)
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="grade", daemon=True)
        self.trace: Trace = untraced
        self.healthy = True
        self.last_error = ""
        self.heard_at = time.monotonic()  # the last sign of life
        self.at_work = ""  # what is being graded since then
        self.paused = False
        self.as_of_ns = 0  # the store's clock: all that was stored or touched before is taken in

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout_s: float = 10.0) -> None:
        self._stop.set()
        self._wake.set()
        self._thread.join(timeout_s)

    def wake(self) -> None:
        """Something was stored: look now instead of at the next poll."""
        self._wake.set()

    @property
    def waiting(self) -> int:
        """Units with something not yet graded closed."""
        return len(self._pending)

    def _run(self) -> None:
        while not self._stop.is_set():
            self.heard_at = time.monotonic()
            try:
                wait_s = POLL_S if self.paused else self.step()
                self.healthy, self.last_error = True, ""
            except Exception as error:  # the store may be away for hours; what is due stays due
                self.healthy, self.last_error = False, str(error)[:500]
                self._metrics.grade_errors.labels(type(error).__name__).inc()
                log.warning("grading failed, retried: %s", self.last_error, exc_info=True)
                wait_s, self.at_work = POLL_S, ""
            self._wake.wait(wait_s)
            self._wake.clear()

    def step(self) -> float:
        """Take in arrivals, grade what is due; the seconds until something is next."""
        now_ns = self._store.now_ns()
        self._tail(now_ns)
        for key in self._ripening.take(self._store, now_ns):
            self._touch(key, now_ns)
        due = self._due(now_ns)
        self._metrics.open_units.set(self.waiting)
        for some in in_batches(due, self._units):
            self.heard_at, self.at_work = time.monotonic(), self._said_of(some)
            with self.trace("grade batch", units=len(some)):
                self._grade(some, now_ns)
            self.heard_at, self.at_work = time.monotonic(), ""
            if self._stop.is_set():
                break
        if self._horizon.is_due(now_ns):
            self._horizon.advance({key: self._units[key] for key in self._pending}, now_ns)
        self._agree(now_ns)
        self.as_of_ns = now_ns
        return 0.0 if due else self._until_next(now_ns)

    def _said_of(self, due: list[Due]) -> str:
        """What is being graded, for people."""
        (project, unit), records = due[0][0], sum(self._units[key].records for key, _ in due)
        return f"{unit} of project {project} ({records} records)" if len(due) == 1 else f"{len(due)} units"

    def _agree(self, now_ns: int) -> None:
        """At start and once an hour ask for runs on another basis than their task: another collector graded one while
        the first outcome of its task was written, or one died then.
        """
        if now_ns - self._agreed_ns >= AGREE_NS:
            self._store.touch(self._store.left_behind())
            self._agreed_ns = now_ns

    def _tail(self, now_ns: int) -> None:
        """Take in what was stored since the last look."""
        since = max(0, self._since(now_ns))
        # At start: what an earlier process graded is not graded again.
        graded = {} if self._read_to_ns else self._store.graded_since(since)
        for arrival in self._store.arrivals_since(since):
            key = (arrival.project, arrival.unit)
            state = self._units.get(key)
            if state is None:
                state = UnitState(arrival.first_stored_ns, arrival.last_stored_ns, graded_ns=graded.get(key, -1))
                self._units[key], state.records = state, arrival.spans
            times = arrival.first_stored_ns, arrival.last_stored_ns
            if state.arrive(*times, rooted=arrival.root, ended=arrival.run_end):
                state.records += arrival.spans
            self._read_to_ns = max(self._read_to_ns, arrival.last_stored_ns)
            self._enlist(key, state)
        for project, unit, stored_ns in self._store.touched_since(since):
            self._touch((project, unit), stored_ns)

    def _since(self, now_ns: int) -> int:
        if not self._read_to_ns:
            return self._horizon.start_ns(now_ns)
        if now_ns - self._swept_ns < SWEEP_NS:
            return self._read_to_ns - SHORT_OVERLAP_NS
        self._swept_ns = now_ns
        self._forget(now_ns - 2 * OVERLAP_NS)
        return self._read_to_ns - OVERLAP_NS

    def _forget(self, before_ns: int) -> None:
        """Drop settled units that no overlap can bring back as new."""
        old = [key for key, state in self._units.items() if state.settled and state.last_stored_ns < before_ns]
        for key in old:
            del self._units[key]

    def _enlist(self, key: UnitKey, state: UnitState) -> None:
        if not state.settled:
            self._pending.add(key)

    def _touch(self, key: UnitKey, stored_ns: int) -> None:
        """An outcome arrived for a unit, or its task changed basis: judge it again though no span is new."""
        state = self._units.get(key)
        if state is None:
            state = self._units[key] = UnitState(stored_ns, stored_ns, rooted=True, graded_ns=stored_ns)
        if stored_ns > state.judged_ns:
            state.touched_ns = max(state.touched_ns, stored_ns)
            self._enlist(key, state)

    def _due(self, now_ns: int) -> list[Due]:
        due: list[Due] = []
        for key in self._pending:
            state = self._units[key]
            at_ns, closed_by = closes_at(state, self._policy)
            if at_ns <= now_ns:
                due.append((key, closed_by))
            elif looks_at(state) <= now_ns:
                due.append((key, ""))
        return due

    def _until_next(self, now_ns: int) -> float:
        states = [self._units[key] for key in self._pending]
        nearest = min((min(closes_at(s, self._policy)[0], looks_at(s)) for s in states), default=NEVER_NS)
        return min(POLL_S, max(0.01, (nearest - now_ns) / 1e9))

    def _grade(self, due: list[Due], now_ns: int) -> None:
        """Grade a batch: what several due keys have joined is one unit, graded once."""
        due = self._without_evaluations(due, now_ns)
        units = self._store.read_units([key for key, _ in due])
        seen: set[tuple[str, tuple[str, ...]]] = set()
        taken: list[tuple[list[UnitKey], Assembled]] = []
        for key, closed_by in due:
            unit = units[key]
            whose = (unit.project, unit.members)  # two projects may well have a trace or a run id in common
            if whose in seen:
                continue
            seen.add(whose)
            keys = [(unit.project, member) for member in unit.members]
            one = self._assembled(unit, self._joined(keys, closed_by, now_ns))
            if one is not None:
                taken.append((keys, one))
            elif (state := self._units.get(key)) is not None:
                state.fail(now_ns)
        self._write([one for _, one in taken], now_ns)
        for keys, one in taken:
            self._mark(keys, one, now_ns)

    def _without_evaluations(self, due: list[Due], now_ns: int) -> list[Due]:
        """Evaluations that name a response instead of a trace wait for its model call, then count with its trace."""
        alone = [key for key, _ in due if RESPONSE_KEY in key[1]]
        if not alone:
            return due
        for key in alone:
            state = self._units[key]
            if self._store.join_answers([key]):
                state.graded_ns, state.judged_ns = state.last_stored_ns, now_ns
                self._pending.discard(key)
            else:
                state.fail(now_ns)
        return [(key, closed_by) for key, closed_by in due if RESPONSE_KEY not in key[1]]

    def _joined(self, keys: list[UnitKey], closed_by: ClosedBy, now_ns: int) -> ClosedBy:
        """A joined unit is closed only when each of its traces is."""
        for key in keys:
            state = self._units.get(key)
            if state is not None and key in self._pending and closes_at(state, self._policy)[0] > now_ns:
                return ""
        return closed_by

    def _assembled(self, unit: Unit, closed_by: ClosedBy) -> Assembled | None:
        """The unit's runs and verdicts; a unit that breaks us costs itself, never the others."""
        try:
            one = self._grader.assembled(unit, closed_by)
        except Exception as error:
            self._metrics.grade_errors.labels(type(error).__name__).inc()
            log.exception("cannot grade %s of project %s", unit.members[0], unit.project)
            return None
        if one.assembly.not_a_run and closed_by and unit.facts:
            self._metrics.not_a_run.inc()
        return one

    def _write(self, taken: list[Assembled], now_ns: int) -> None:
        self._add_stored_outcomes(taken)
        if met := flag_shared(self._store, self._grader, taken):
            self._store.touch(met)
        add_answers(self._store, self._grader.checks, [graded for one in taken for graded in one.graded()])
        tasks = {task_of(run) for one in taken for run in one.assembly.runs}
        known = self._store.tasks_with_outcomes(tasks)
        frozen = self._frozen(taken)
        found = set().union(*(one.with_outcomes(frozen) for one in taken)) if taken else set()
        self._rejudge(found - known)  # before the write, which makes them known: a crash between would leave two bases
        gradings: list[Grading] = []
        kept: list[Remembered] = []  # runs whose spans are gone
        for one in taken:
            made = self._grader.gradings(one, known | found, now_ns)
            self._ripening.add(made)
            before = {
                row.run_id: row.input_digest for row in one.unit.runs if row.alive and row.epoch == self._grader.epoch
            }
            gradings.extend(g for g in made if before.get(g.run.run_id) != g.input_digest)
            if not made and one.closed_by:
                kept += remembered(self._store, one.unit)
        gradings += self._rejudged(kept, frozen, now_ns)
        written = self._store.write_gradings(self._movable(gradings, frozen))
        for grading in written:
            self._metrics.graded.labels(grading.trial.result).inc()

    def _frozen(self, taken: list[Assembled]) -> set[UnitKey]:
        """The frozen runs, by project and run id. Only a run that was graded before can be one: others cost no look."""
        return self._store.frozen_of({(one.unit.project, row.run_id) for one in taken for row in one.unit.runs})

    def _movable(self, gradings: list[Grading], frozen: set[UnitKey]) -> list[Grading]:
        """Without those of frozen runs."""
        left = [g for g in gradings if (g.run.project, g.run.run_id) not in frozen]
        self._metrics.frozen.inc(len(gradings) - len(left))
        return left

    def _rejudged(self, kept: list[Remembered], frozen: set[UnitKey], now_ns: int) -> list[Grading]:
        if not kept:
            return []
        known = self._store.tasks_with_outcomes(task_of(one.run) for one in kept)
        found = with_outcomes([one for one in kept if (one.run.project, one.run.run_id) not in frozen])
        self._rejudge(found - known)
        return list(rejudged(self._store, self._grader, kept, known | found, now_ns))

    def _add_stored_outcomes(self, taken: list[Assembled]) -> None:
        """Outcomes that came over the API, or for other runs of the unit, beside those the telemetry carries."""
        wanted = {(one.unit.project, run.run_id) for one in taken for run in one.assembly.runs}
        stored = self._store.outcomes_of(wanted)
        for one in taken:
            for run, outcomes in zip(one.assembly.runs, one.outcomes, strict=True):
                outcomes.extend(stored.get((one.unit.project, run.run_id), ()))

    def _rejudge(self, tasks: Iterable[Task]) -> None:
        """A task's first outcome: its runs without one were judged by trajectory and now await an outcome."""
        for project, task_id, task_version in tasks:
            units = self._store.units_of_task(project, task_id, task_version)
            self._store.touch([(project, unit) for unit in units])

    def _mark(self, keys: list[UnitKey], one: Assembled, now_ns: int) -> None:
        """Remember what was graded: closed as far as it was stored then, or merely looked at."""
        for key in keys:
            state = self._units.get(key)
            if state is None:
                continue
            state.looked_ns, state.looks, state.failures = now_ns, state.looks + 1, 0
            if one.closed_by:
                due_ns = max(closes_at(state, self._policy)[0], state.touched_ns)
                self._metrics.verdict_seconds.observe(max(0.0, (self._store.now_ns() - due_ns) / SECOND_NS))
                state.graded_ns, state.judged_ns, state.touched_ns = state.last_stored_ns, now_ns, 0
                self._pending.discard(key)
