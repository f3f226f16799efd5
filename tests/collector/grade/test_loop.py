"""The loop over a real store: what is due is graded once, whatever restarts or breaks in between."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from collector.assemble import Policy
from collector.config.keys import StoreConfig
from collector.grade.due import DuePolicy
from collector.grade.grader import Assembled, Grader
from collector.grade.loop import GradeLoop
from collector.metrics import Metrics
from collector.store.records import Unit
from collector.store.rows import Batch, span_row
from collector.store.store import Store
from graders.checkset import CheckSet
from graders.trial import TrialPolicy
from semconv.outcome import Outcome
from semconv.resolve import facts_of
from semconv.run import ClosedBy
from semconv.span import Resource, Scope, Span
from semconv.words import Words

START = 1_793_000_000_000_000_000
NOW_DUE = DuePolicy(settle_s=0, idle_s=1000)


KEPT = ("schema_migrations", "checks_versions")


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("grade")
    opened = Store.open(StoreConfig(url=f"chdb:{folder / 'store'}"), folder)
    yield opened
    opened.close()


@pytest.fixture
def store(opened: Store) -> Iterator[Store]:
    """An empty store: opening one takes longer than what is tested here."""
    yield opened
    opened.catch_up()
    with opened._connections.writer() as client:
        for table in set(opened.counts()) - {*KEPT}:
            client.command(f"TRUNCATE TABLE `{table}`")


def span(trace: int, number: int, parent: int = 0, *, task: str = "", tool: str = "") -> Span:
    operation = "execute_tool" if tool else "invoke_agent"
    attributes = {"gen_ai.operation.name": operation}
    if tool:
        attributes["gen_ai.tool.name"] = tool
    if task:
        attributes["passhat.task.id"] = task
    return Span(
        f"{trace:032x}", f"{number:016x}", f"{parent:016x}" if parent else "", operation, 1, START + number, START + 99,
        0, "", attributes, (), (), Resource({"service.name": "s"}), Scope(),
    )  # fmt: skip


def put(store: Store, *spans: Span, received_ns: int = START) -> None:
    words = Words()
    store.insert(Batch(spans=[span_row("default", received_ns, one, facts_of(one, words)) for one in spans]))


def loop_over(store: Store, policy: DuePolicy = NOW_DUE, grader: Grader | None = None) -> tuple[GradeLoop, Metrics]:
    metrics = Metrics()
    checks = CheckSet.compile()
    grader = grader or Grader(checks, Policy(), store.register_checks(checks.digest, "{}"))
    return GradeLoop(store, grader, policy, metrics), metrics


def graded(metrics: Metrics) -> int:
    return int(sum(s.value for m in metrics.graded.collect() for s in m.samples if s.name.endswith("_total")))


def results(store: Store) -> dict[str, tuple[str, int]]:
    rows = store.query("SELECT run_id, result, revision FROM trials ORDER BY run_id").rows
    return {run_id.lstrip("0"): (result, revision) for run_id, result, revision in rows}


def test_a_restart_grades_nothing_again(store: Store) -> None:
    put(store, span(1, 1, task="t"), span(1, 2, 1, tool="x"), span(2, 1, task="t"))
    first, counted = loop_over(store)
    first.step()
    assert graded(counted) == 2
    first.step()
    assert graded(counted) == 2
    again, counted = loop_over(store)
    again.step()
    assert graded(counted) == 0
    assert again.waiting == 0
    put(store, span(1, 3, 1, tool="y"))
    again.step()
    assert graded(counted) == 1
    assert results(store)["1"][1] == 2


def test_an_open_run_is_pending_until_its_root_arrives(store: Store) -> None:
    put(store, span(1, 2, 1, tool="x"))
    loop, _ = loop_over(store, DuePolicy(settle_s=0, idle_s=1000, max_age_s=1000))
    while not results(store):
        loop.step()
    assert results(store) == {"1": ("pending", 1)}
    put(store, span(1, 1))
    loop.step()
    assert results(store)["1"][0] != "pending"


def test_without_a_root_a_run_is_incomplete_once_idle(store: Store) -> None:
    put(store, span(1, 2, 1, tool="x"))
    loop, _ = loop_over(store, DuePolicy(settle_s=0, idle_s=0))
    loop.step()
    assert results(store) == {"1": ("incomplete", 1)}


def test_a_tasks_first_outcome_makes_its_other_runs_await_theirs(store: Store) -> None:
    put(store, span(1, 1, task="t"), span(2, 1, task="t"), span(3, 1, task="other"))
    loop, _ = loop_over(store)
    loop.step()
    before = results(store)
    store.add_outcomes([("default", Outcome(f"{1:032x}", "pass", "harness", time_ns=1))])
    loop.step()
    loop.step()
    reasons = dict(store.query("SELECT run_id, reason FROM trials").rows)
    assert results(store)["1"][0] == "pass"
    assert reasons[f"{2:032x}"] == "awaiting_outcome"
    assert results(store)["3"] == before["3"]


def stop_at(store: Store, name: str, monkeypatch: pytest.MonkeyPatch, *, after: bool = False) -> None:
    """The process dies in this call of the store, or right after it."""
    real = getattr(store, name)

    def dies(*args: Any) -> None:
        if after:
            real(*args)
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(store, name, dies)


@pytest.mark.parametrize(("name", "after"), [("touch", False), ("touch", True), ("write_gradings", True)])
def test_a_collector_that_dies_with_a_first_outcome_leaves_no_task_on_two_bases(
    store: Store, monkeypatch: pytest.MonkeyPatch, name: str, after: bool
) -> None:
    put(store, *(span(number, 1, task="t") for number in (1, 2, 3)))
    loop, _ = loop_over(store)
    loop.step()
    store.add_outcomes([("default", Outcome(f"{1:032x}", "pass", "harness", time_ns=1))])
    stop_at(store, name, monkeypatch, after=after)
    with pytest.raises(KeyboardInterrupt):
        loop.step()
    again, _ = loop_over(store)
    again.step()
    again.step()
    assert store.query("SELECT basis, count() FROM trials GROUP BY ALL").rows == [("outcome", 3)]


def test_a_task_found_on_two_bases_is_put_right_at_start(store: Store) -> None:
    put(store, *(span(number, 1, task="t") for number in (1, 2)))
    loop_over(store)[0].step()
    # Another collector wrote the first outcome while this one judged by trajectory.
    with store._connections.writer() as client:
        client.command("INSERT INTO task_versions VALUES ('default', 't', '', now64(3), 1)")
    loop, _ = loop_over(store)
    loop.step()
    loop.step()
    assert store.query("SELECT DISTINCT basis FROM trials").rows == [("outcome",)]


def test_an_outcome_of_a_frozen_run_moves_neither_it_nor_its_task(store: Store) -> None:
    put(store, *(span(number, 1, task="t") for number in (1, 2)))
    loop, _ = loop_over(store)
    loop.step()
    before = results(store)
    store.freeze([("default", f"{1:032x}")], frozen=True)
    store.add_outcomes([("default", Outcome(f"{1:032x}", "pass", "harness", time_ns=1))])
    for _ in range(3):
        loop.step()
    assert (results(store), loop.waiting) == (before, 0)
    assert store.left_behind() == []


@pytest.mark.parametrize("restarts", [False, True])
def test_a_young_trial_is_judged_once_it_is_old_enough(
    store: Store, monkeypatch: pytest.MonkeyPatch, restarts: bool
) -> None:
    checks = CheckSet.compile(policy=TrialPolicy(mature_s=60.0))
    grader = Grader(checks, Policy(), store.register_checks(checks.digest, "{}"))
    now = store.now_ns()
    ended = [msgspec.structs.replace(span(n, 1, task="t"), start_ns=now - 99, end_ns=now) for n in (1, 2)]
    put(store, *ended, received_ns=now)
    loop, _ = loop_over(store, grader=grader)
    loop.step()
    loop.step()
    assert store.query("SELECT DISTINCT reason, revision FROM trials").rows == [("awaiting_outcome", 1)]
    monkeypatch.setattr(store, "now_ns", lambda: now + 61 * 10**9)
    if restarts:
        loop, _ = loop_over(store, DuePolicy(settle_s=0, max_age_s=1), grader)
    loop.step()
    loop.step()
    assert store.query("SELECT DISTINCT reason, revision FROM trials").rows == [("nothing_judged", 2)]
    assert loop.waiting == 0


def test_what_was_stored_before_a_long_stop_is_graded_at_the_next_start(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = DuePolicy(settle_s=0, idle_s=1000, max_age_s=3600)
    put(store, span(1, 1, task="t"))
    loop, _ = loop_over(store, policy)
    loop.step()
    put(store, span(2, 1, task="u"))
    store.add_outcomes([("default", Outcome(f"{1:032x}", "pass", "harness", time_ns=1))])
    later = store.now_ns() + 2 * 3600 * 10**9
    monkeypatch.setattr(store, "now_ns", lambda: later)
    loop, _ = loop_over(store, policy)
    loop.step()
    assert {run: result for run, (result, _) in results(store).items()} == {"1": "pass", "2": "unknown"}
    assert loop.waiting == 0


def test_what_cannot_be_graded_for_long_is_not_forgotten_by_a_start(store: Store) -> None:
    put(store, span(1, 1, task="t"))
    with store._connections.writer() as client:  # two hours ago
        client.command("TRUNCATE TABLE arrivals")
        client.command(
            "INSERT INTO arrivals (stored_at, project, unit, trace_id, spans, root, run_end, collector)"
            " SELECT now64(9) - 7200, 'default', leftPad('1', 32, '0') AS unit, unit, 1, true, false, 'c'"
        )
    policy, checks = DuePolicy(settle_s=0, idle_s=1000, max_age_s=3600), CheckSet.compile()
    loop_over(store, policy, Breaking(checks, Policy(), store.register_checks(checks.digest, "{}")))[0].step()
    assert store.graded_to()[0] > store.now_ns() - 3600 * 10**9
    assert results(store) == {}
    loop_over(store, policy)[0].step()
    assert set(results(store)) == {"1"}


def test_a_root_sent_again_with_a_later_start_is_the_same_trial(store: Store) -> None:
    put(store, span(1, 1, task="t"), span(1, 2, 1, tool="x"))
    loop, _ = loop_over(store)
    loop.step()
    later = store.now_ns() + 10**9
    moved = msgspec.structs.replace(span(1, 1, task="t"), start_ns=later, end_ns=later + 99)
    put(store, moved, received_ns=later)
    loop.step()
    rows = store.query("SELECT run_id, revision, tool_calls, has(flags, 'id_conflict') FROM trials").rows
    assert rows == [(f"{1:032x}", 2, 1, True)]


def named(run_id: str, trace: int, start_ns: int = START) -> Span:
    one = msgspec.structs.replace(span(trace, trace, task="t"), start_ns=start_ns, end_ns=start_ns + 99)
    one.attributes["passhat.run.id"] = run_id
    return one


def trials(store: Store) -> list[tuple[Any, ...]]:
    return store.query("SELECT run_id, span_count, flags, arraySort(trace_ids) FROM trials ORDER BY run_id").rows


@pytest.mark.parametrize("life_first", [True, False])
def test_a_life_of_a_run_never_takes_the_place_of_a_run_called_so(store: Store, life_first: bool) -> None:
    loop, _ = loop_over(store)
    user = named("n~2", 9)
    put(store, named("n", 1), *([] if life_first else [user]))
    loop.step()
    later = store.now_ns() + 10**9
    put(store, named("n", 2, later), received_ns=later)
    loop.step()
    if life_first:
        assert [run[0] for run in trials(store)] == ["n", "n~2"]
        put(store, user)
    for _ in range(3):
        loop.step()
    expected = [
        ("n", 1, [], [f"{1:032x}"]),
        ("n~2", 1, [], [f"{9:032x}"]),
        ("n~3", 1, ["run_id_reused"], [f"{2:032x}"]),
    ]
    assert (trials(store), loop.waiting) == (expected, 0)
    again, counted = loop_over(store)
    again.step()
    assert (trials(store), graded(counted)) == (expected, 0)


@pytest.mark.parametrize("trace_first", [True, False])
@pytest.mark.parametrize("apart", [True, False])
def test_a_trace_and_a_run_named_like_it_are_one_run(store: Store, trace_first: bool, apart: bool) -> None:
    both = [span(1, 1, task="t"), named(f"{1:032x}", 2)]
    both = both if trace_first else both[::-1]
    loop, _ = loop_over(store)
    put(store, both[0])
    if apart:
        loop.step()
    put(store, both[1])
    for _ in range(3):
        loop.step()
    assert trials(store) == [(f"{1:032x}", 2, ["run_id_shared"], [f"{1:032x}", f"{2:032x}"])]
    assert loop.waiting == 0
    put(store, span(1, 7, 1, tool="x"))
    loop.step()
    assert [run[:2] for run in trials(store)] == [(f"{1:032x}", 3)]


class Breaking(Grader):
    """A grader with a fault of ours in it: one unit cannot be assembled."""

    def assembled(self, unit: Unit, closed_by: ClosedBy) -> Assembled:
        if unit.members[0].endswith("1"):
            raise RuntimeError("broken on purpose")
        return super().assembled(unit, closed_by)


def test_a_unit_that_breaks_the_grader_costs_no_other(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    put(store, *(span(number, 1, task="t") for number in (1, 2, 3)))
    now_ns = store.now_ns()
    monkeypatch.setattr(store, "now_ns", lambda: now_ns)  # on a busy machine the time to try again would come
    checks = CheckSet.compile()
    loop, metrics = loop_over(store, grader=Breaking(checks, Policy(), store.register_checks(checks.digest, "{}")))
    loop.step()
    assert set(results(store)) == {"2", "3"}
    assert metrics.registry.get_sample_value("passhat_grade_errors_total", {"reason": "RuntimeError"}) == 1
    loop.step()
    assert metrics.registry.get_sample_value("passhat_grade_errors_total", {"reason": "RuntimeError"}) == 1
    assert loop.waiting == 1


def test_a_large_unit_is_graded_last_and_said(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("collector.grade.due.LARGE", 2)
    put(store, *(span(1, number, number - 1) for number in (1, 2, 3)), span(2, 1))
    loop, _ = loop_over(store)
    said: list[str] = []
    grade = loop._grade
    monkeypatch.setattr(loop, "_grade", lambda *args: (said.append(loop.at_work), grade(*args)))
    loop.step()
    small, large = (f"{trace:032x} of project default ({records} records)" for trace, records in ((2, 1), (1, 3)))
    assert (said, loop.at_work, set(results(store))) == ([small, large], "", {"1", "2"})


def test_traces_joined_by_a_run_id_close_together(store: Store) -> None:
    first, second = span(1, 1, task="t"), span(2, 1, task="t")
    for one in (first, second):
        one.attributes["passhat.run.id"] = "r"
    put(store, first)
    put(store, second)
    loop, metrics = loop_over(store)
    loop.step()
    assert graded(metrics) == 1
    rows = store.query("SELECT run_id, span_count FROM trials").rows
    assert rows == [("r", 2)]
