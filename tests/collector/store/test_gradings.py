"""Gradings as snapshots: what was built from more wins, whoever was slower, and the hours count it once."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from collector.store.grading_rows import line_of
from collector.store.store import Store
from semconv.trace_line import TraceLine
from tests.support.stores import BASE_NS, SECOND, graded, outcome, trace, verdict

HOUR = 3600 * SECOND


def trials(store: Store, columns: str = "run_id, result") -> list[tuple[Any, ...]]:
    return store.query(f"SELECT {columns} FROM trials ORDER BY run_id").rows


def counts(store: Store) -> dict[tuple[str, int], tuple[int, int]]:
    """Pass and fail by task and hours after BASE."""
    sql = "SELECT task_id, toUnixTimestamp(hour), sum(pass), sum(fail) FROM hour_counts FINAL GROUP BY ALL"
    base = BASE_NS // HOUR * 3600
    return {(task, (hour - base) // 3600): (p, f) for task, hour, p, f in store.query(sql).rows if p + f}


def test_a_grading_is_read_back_whole(store: Store) -> None:
    lines = (
        TraceLine(n=1, role="user", text="é\n'"),
        TraceLine(n=2, role="assistant", tool="Bash", tool_raw="bash", input={"a": [1, None]}, call_id="c", depth=1),
        TraceLine(n=3, role="tool", tool="Bash", output="", call_id="c", status="error", error="x", flags=("f",)),
        TraceLine(n=4, role="tool", output=None),
        TraceLine(n=5, role="result", subtype="success", cost_usd=0.5, num_turns=2, input_tokens=7, attempts=3),
    )
    checks = (
        verdict("a", "pass", lines=(1, 2), gate=True),
        verdict("b", "fail", severity="critical", fix="do", kind="absence", on_fail="invalid", check_version="v"),
    )
    given = graded(
        "r", "fail", lines=lines, verdicts=checks, reason="", outcome="pass", trajectory="fail", trial_id="7", turns=3,
        cost_usd=0.25, input_tokens=None, output_tokens=9, attributes={"k": [1]}, actions={2: ("test_run", "edit")},
        lossy=("truncated",), flags=("x",), outcomes=(outcome("r", "pass"),),
    )  # fmt: skip
    assert store.write_gradings([given]) == [given]
    (found,) = store.query("SELECT * FROM trials").dicts()
    assert {name: found[name] for name in ("result", "outcome", "trajectory", "trial_id", "turns", "revision")} == {
        "result": "fail", "outcome": "pass", "trajectory": "fail", "trial_id": "7", "turns": 3, "revision": 1,
    }  # fmt: skip
    assert (found["cost_usd"], found["input_tokens"], found["output_tokens"]) == (0.25, None, 9)
    assert (found["lossy"], found["flags"], found["duration_s"]) == (["truncated"], ["x"], 5.0)
    assert found["ended"].timestamp() == BASE_NS // SECOND
    stored = store.query("SELECT * FROM trace_lines ORDER BY n").dicts()
    assert tuple(line_of(row | {"run_id": ""}) for row in stored) == lines
    assert stored[1]["actions"] == ["test_run", "edit"]
    told = store.query("SELECT check_id, status, lines, gate, severity, on_fail, fix, kind FROM current_verdicts")
    assert told.rows == [
        ("a", "pass", [1, 2], True, "", "fail", "", "response"),
        ("b", "fail", [], False, "critical", "invalid", "do", "absence"),
    ]


@pytest.mark.parametrize("order", list(itertools.permutations(range(5)))[::13])
def test_the_revision_built_from_most_wins_in_any_order(store: Store, order: tuple[int, ...]) -> None:
    """Older checks, fewer spans, still open, before an outcome: none of them may win because it was written last."""
    revisions = [
        graded("r", "error", epoch=1, inputs=900, input_digest="old checks"),
        graded("r", "pending", epoch=2, inputs=3, closed_by="", input_digest="open"),
        graded("r", "fail", epoch=2, inputs=3, input_digest="fewer"),
        graded("r", "unknown", epoch=2, inputs=4, input_digest="all"),
        graded("r", "pass", epoch=2, inputs=4, basis="outcome", outcome="pass", input_digest="with outcome"),
    ]
    written = [store.write_gradings([revisions[i]]) for i in order]
    assert trials(store) == [("r", "pass")]
    assert counts(store) == {("book", 0): (1, 0)}
    assert written[-1] == ([revisions[order[-1]]] if order[-1] == 4 else [])


def test_in_one_batch_the_fuller_of_two_gradings_of_a_run_counts(store: Store) -> None:
    store.write_gradings([graded("r", "pass", inputs=9), graded("r", "fail", inputs=2)])
    assert trials(store) == [("r", "pass")]
    assert counts(store) == {("book", 0): (1, 0)}


def test_revisions_are_numbered_and_only_the_current_verdicts_show(store: Store) -> None:
    first = graded("r", "fail", verdicts=(verdict("gone", "fail"), verdict("kept", "fail")))
    second = graded("r", "pass", inputs=3, input_digest="d2", verdicts=(verdict("kept"), verdict("new")))
    store.write_gradings([first])
    store.write_gradings([second])
    assert store.query("SELECT check_id, status, revision FROM current_verdicts").rows == [
        ("kept", "pass", 2),
        ("new", "pass", 2),
    ]
    history = store.query("SELECT check_id, status, revision FROM verdicts FINAL ORDER BY revision, check_id").rows
    assert history == [("gone", "fail", 1), ("kept", "fail", 1), ("kept", "pass", 2), ("new", "pass", 2)]


def test_writing_the_same_grading_again_changes_no_number(store: Store) -> None:
    one = graded("r", verdicts=(verdict("a"),))
    for _ in range(3):
        store.write_gradings([one])
    assert trials(store) == [("r", "pass")]
    assert counts(store) == {("book", 0): (1, 0)}
    assert store.query("SELECT count() FROM trace_lines FINAL").rows == [(2,)]
    assert store.query("SELECT count() FROM verdicts FINAL").rows == [(1,)]


def test_a_revision_written_again_with_fewer_lines_keeps_none_of_the_others(store: Store) -> None:
    store.write_gradings([graded("r", lines=tuple(TraceLine(n=n, role="user") for n in range(1, 6)))])
    store.write_gradings([graded("r", lines=(TraceLine(n=1, role="user", text="only"),))])
    assert store.query("SELECT n, text FROM trace_lines FINAL WHERE role != ''").rows == [(1, "only")]
    assert trials(store, "line_count") == [(1,)]


def test_a_withdrawn_run_is_in_no_view_and_no_count(store: Store) -> None:
    store.write_gradings([graded("gone", verdicts=(verdict("a"),)), graded("kept")])
    store.write_gradings([graded("gone", inputs=3, alive=False, ended_ns=0, started_ns=0, task_id="")])
    assert trials(store) == [("kept", "pass")]
    assert store.query("SELECT count() FROM current_verdicts").rows == [(0,)]
    assert counts(store) == {("book", 0): (1, 0)}
    store.write_gradings([graded("gone", inputs=4)])
    assert trials(store) == [("gone", "pass"), ("kept", "pass")]
    assert counts(store) == {("book", 0): (2, 0)}


def test_a_run_that_moves_to_another_hour_leaves_its_old_one(store: Store) -> None:
    store.write_gradings([graded("r")])
    store.write_gradings([graded("r", "fail", ended_ns=BASE_NS + 2 * HOUR, inputs=3)])
    assert counts(store) == {("book", 2): (0, 1)}
    store.write_gradings([graded("r", "pass", inputs=4)])
    assert counts(store) == {("book", 0): (1, 0)}


def test_a_run_that_changes_its_task_leaves_no_count_behind(store: Store) -> None:
    store.write_gradings([graded("r", task_id="wrong")])
    store.write_gradings([graded("r", task_id="right", inputs=3)])
    assert counts(store) == {("right", 0): (1, 0)}


@pytest.mark.parametrize("ended_ns", [0, 5, 2**64 - 1, BASE_NS // 1000, 4_000_000_000_000_000_000])
def test_an_absurd_end_counts_as_first_stored_and_stays_there(store: Store, ended_ns: int) -> None:
    before = store.now_ns() // 1_000_000
    store.write_gradings([graded("r", ended_ns=ended_ns, started_ns=0)])
    (ended, flags, duration), = trials(store, "toUnixTimestamp64Milli(ended), flags, duration_s")  # fmt: skip
    assert before <= ended <= store.now_ns() // 1_000_000
    assert (flags, duration) == (["absurd_time"], 0.0)
    store.write_gradings([graded("r", ended_ns=ended_ns, started_ns=0, inputs=9)])
    assert trials(store, "toUnixTimestamp64Milli(ended)") == [(ended,)]


def test_an_hour_missed_by_a_crash_is_found_and_recounted(store: Store) -> None:
    store.write_gradings([graded("r"), graded("s", ended_ns=BASE_NS + HOUR)])
    with store._connections.writer() as client:
        client.command("TRUNCATE TABLE hour_counts")
    store.write_gradings([graded("t", ended_ns=BASE_NS + HOUR)])
    assert counts(store) == {("book", 1): (2, 0)}
    assert store.repair() == 1
    assert counts(store) == {("book", 0): (1, 0), ("book", 1): (2, 0)}
    assert store.repair() == 0


def test_slow_counting_is_put_off_and_done_before_anyone_reads(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("collector.store.gradings.SLOW_COUNT_S", -1.0)
    since = store.now_ns()
    counted = lambda: store._reader.rows("SELECT sum(pass) FROM hour_counts FINAL")[0][0]  # noqa: E731
    store.write_gradings([graded("first")])
    store._gradings._count_at += 3600  # as if it had taken a quarter of an hour
    store.write_gradings([graded("second")])
    assert counted() == 1
    store.arrivals_since(since)  # not yet
    assert counted() == 1
    assert store.query("SELECT sum(pass) FROM hour_counts FINAL").rows == [(2,)]
    store._gradings._count_at = 0.0
    store.write_gradings([graded("third")])
    assert counted() == 3


def test_lines_of_old_revisions_are_swept_and_no_others(store: Store) -> None:
    store.write_gradings([graded("r"), graded("gone")])
    store.write_gradings([graded("r", inputs=3), graded("gone", inputs=3, alive=False)])
    count = "SELECT count() FROM trace_lines"
    store.sweep()
    assert store.query(count).rows == [(8,)]  # all of this hour
    store.sweep(older_s=0)
    assert store.query(count).rows == [(2,)]
    shown = "SELECT n, role FROM trace_lines WHERE version = (SELECT version FROM trials WHERE run_id = 'r') ORDER BY n"
    assert store.query(shown).rows == [(1, "user"), (2, "result")]


def test_gradings_over_many_months_are_written(store: Store) -> None:
    month = 31 * 24 * HOUR
    store.write_gradings([graded(f"r{n}", ended_ns=BASE_NS - n * month) for n in range(130)])
    assert store.query("SELECT count(), uniqExact(toYYYYMM(ended)) > 120 FROM trials").rows == [(130, True)]
    assert store.query("SELECT sum(pass) FROM hour_counts FINAL").rows == [(130,)]
    assert store.query("SELECT sum(pass) FROM day_counts FINAL").rows == [(130,)]


def test_a_losing_grader_leaves_no_trace_in_the_hours(store: Store) -> None:
    """Two graders read the same state; the poorer writes last, into another hour."""
    store._gradings._alone = False
    store.write_gradings([graded("r", "pass", inputs=5)])
    poorer = graded("r", "fail", ended_ns=BASE_NS + 3 * HOUR, inputs=2)
    gradings = store._gradings
    known, gradings._reader.stored_runs = gradings._reader.stored_runs, lambda keys: {}  # type: ignore[assignment,method-assign]
    try:
        store.write_gradings([poorer])
    finally:
        gradings._reader.stored_runs = known  # type: ignore[method-assign]
    assert trials(store) == [("r", "pass")]
    assert counts(store) == {("book", 0): (1, 0)}
    assert store.repair() == 0


def test_tasks_know_whether_they_ever_had_an_outcome(store: Store) -> None:
    task = ("default", "book", "1")
    store.write_gradings([graded("a", trace_ids=(trace(1),)), graded("b", trace_ids=(trace(2),))])
    assert store.tasks_with_outcomes([task]) == set()
    store.write_gradings([graded("b", inputs=3, basis="outcome", outcome="fail", trace_ids=(trace(2),))])
    asked = [task, ("default", "book", "2"), ("other", "book", "1")]
    assert store.tasks_with_outcomes(asked) == {task}
    assert store.tasks_with_outcomes([]) == set()
    assert store.units_of_task(*task) == [trace(1), trace(2)]
    assert store.units_of_task("default", "book", "2") == []


def test_what_was_graded_closed_is_known_after_a_restart(store: Store) -> None:
    store.write_gradings(
        [
            graded("a", trace_ids=(trace(1),), as_of_ns=5),
            graded("b", trace_ids=(trace(2), trace(3)), as_of_ns=6),
            graded("c", trace_ids=(trace(4),), closed_by="", as_of_ns=7),
            graded("d", trace_ids=(), members=("session-1",), as_of_ns=8),
        ]
    )
    assert store.graded_since(0) == {
        ("default", trace(1)): 5, ("default", trace(2)): 6, ("default", trace(3)): 6, ("default", "session-1"): 8,
    }  # fmt: skip
    assert store.graded_since(store.now_ns() + SECOND) == {}


def test_the_newest_registered_checks_are_in_force(store: Store) -> None:
    assert store.checks_in_force() == (0, "")
    assert store.register_checks("one", "[]") == 1
    assert store.register_checks("one", "[]") == 1
    assert store.register_checks("two", "[1]") == 2
    assert store.register_checks("one", "[]") == 3  # taken back: a new epoch, else it could not win over `two`
    assert store.checks_in_force() == (3, "one")


def test_a_policy_is_set_for_every_reader(store: Store) -> None:
    store.set_policy(errors="exclude", retries="first")
    store.set_policy(errors="fail", retries="first")
    assert store.policy() == {"errors": "fail", "retries": "first"}
    assert store.query("SELECT count() FROM policy").rows[0][0] <= 3
