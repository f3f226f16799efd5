"""Late outcomes: after days, after the spans are gone, thousands at once, in whatever order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from collector.assemble import Policy
from collector.config.keys import StoreConfig
from collector.grade.grader import Grader
from collector.store.store import Store
from graders.checkset import CheckSet
from semconv.outcome import Outcome
from tests.collector.grade.test_loop import graded, loop_over, put, results, span

SECOND = [{"id": "no-x", "kind": "absence", "of": "call.tool == 'x'", "gate": True}]
LINES = """SELECT n, role, tool, actions FROM trace_lines FINAL
    WHERE (run_id, version) IN (SELECT run_id, version FROM runs FINAL) ORDER BY n"""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store.open(StoreConfig(url=f"chdb:{tmp_path / 'store'}"), tmp_path)
    yield opened
    opened.close()


def expire(store: Store) -> None:
    """What retention does to spans, all at once."""
    with store._connections.writer() as client:
        client.command("TRUNCATE TABLE spans")


def say(store: Store, trace: int, result: str, source: str = "environment", time_ns: int = 1) -> None:
    store.add_outcomes([("default", Outcome(f"{trace:032x}", result, source, time_ns=time_ns))])  # type: ignore[arg-type]


def of(store: Store, columns: str) -> Any:
    return store.query(f"SELECT {columns} FROM runs FINAL WHERE alive ORDER BY run_id").rows


def test_an_outcome_counts_though_the_spans_are_gone(store: Store) -> None:
    put(store, span(1, 1, task="t"), span(1, 2, 1, tool="x"))
    loop, metrics = loop_over(store)
    loop.step()
    say(store, 1, "pass")
    loop.step()
    assert results(store) == {"1": ("pass", 2)}
    lines, kept = store.query(LINES).rows, of(store, "check_id, check_status, check_version, ended, hour, final_text")
    expire(store)
    say(store, 1, "fail", time_ns=2)
    loop.step()
    assert results(store) == {"1": ("fail", 3)}
    assert store.query(LINES).rows == lines
    assert of(store, "check_id, check_status, check_version, ended, hour, final_text") == kept
    assert store.query("SELECT sum(pass), sum(fail) FROM hour_counts FINAL").rows == [(0, 1)]
    before = graded(metrics)
    say(store, 1, "fail", time_ns=3)  # nothing new
    loop.step()
    assert graded(metrics) == before


def test_a_first_outcome_after_the_spans_are_gone_puts_the_task_on_outcomes(store: Store) -> None:
    put(store, span(1, 1, task="t"), span(1, 2, 1, tool="x"), span(2, 1, task="t"), span(2, 2, 1, tool="x"))
    loop, _ = loop_over(store)
    loop.step()
    expire(store)
    say(store, 1, "pass")
    loop.step()
    loop.step()
    assert of(store, "basis, result, reason") == [
        ("outcome", "pass", ""), ("outcome", "unknown", "awaiting_outcome")
    ]  # fmt: skip


def test_changed_checks_are_applied_to_kept_lines(store: Store) -> None:
    put(store, span(1, 1, task="t"), span(1, 2, 1, tool="x"))
    loop, _ = loop_over(store)
    loop.step()
    expire(store)
    checks = CheckSet.compile(SECOND)
    again, _ = loop_over(store, grader=Grader(checks, Policy(), store.register_checks(checks.digest, "{}")))
    store.touch([("default", f"{1:032x}")])
    again.step()
    assert results(store) == {"1": ("fail", 2)}
    assert of(store, "check_id, check_lines, epoch") == [(["no-x"], [[1]], 2)]


def test_precedence_whatever_order_statements_come_in(store: Store) -> None:
    said = [("judge", "pass", 9), ("harness", "fail", 8), ("environment", "pass", 7), ("human", "fail", 2),
            ("human", "invalid", 3)]  # fmt: skip
    orders = list(permutations(said))[::23]
    put(store, *(span(trace, 1, task="t") for trace in range(1, len(orders) + 1)))
    loop, _ = loop_over(store)
    loop.step()
    in_force = ["pass", "fail", "pass", "fail", "invalid"]
    for step in range(len(said)):
        for trace, order in enumerate(orders, 1):
            source, result, time_ns = order[step]
            say(store, trace, result, source, time_ns)
        loop.step()
        loop.step()
        now = {int(run_id, 16): result for run_id, result in of(store, "run_id, outcome")}
        for trace, order in enumerate(orders, 1):
            assert now[trace] == in_force[max(said.index(one) for one in order[: step + 1])]


def test_thousands_of_late_outcomes_at_once(store: Store) -> None:
    count = 3000
    put(store, *(span(trace, 1, task=f"t{trace % 7}") for trace in range(1, count + 1)))
    loop, _ = loop_over(store)
    loop.step()
    assert len(of(store, "run_id")) == count
    store.add_outcomes(
        [("default", Outcome(f"{n:032x}", "fail" if n % 3 else "pass", "environment")) for n in range(1, count + 1)]
    )
    loop.step()
    loop.step()
    tallies = store.query("SELECT result, count() FROM runs FINAL WHERE alive GROUP BY result ORDER BY result").rows
    assert tallies == [("fail", 2000), ("pass", 1000)]
    assert loop.waiting == 0
