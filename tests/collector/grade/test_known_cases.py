"""What collectors of traces were reported to do to traces that are early, late, many or without an end
(docs/known-cases.md): the loop over a real store."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from collector.assemble import Policy
from collector.config.keys import StoreConfig
from collector.grade.due import SECOND_NS, DuePolicy, UnitState, closes_at
from collector.grade.grader import Grader
from collector.grade.loop import GradeLoop
from collector.metrics import Metrics
from collector.store.rows import Batch, span_row
from collector.store.store import Store
from graders.checkset import CheckSet
from semconv.resolve import facts_of
from semconv.span import Resource, Scope, Span
from semconv.words import Words
from tests.semconv.recorded import ready_input
from tests.support.serving import until

START = 1_793_000_000_000_000_000
AT_ONCE = DuePolicy(settle_s=0, idle_s=0)
SEEN = DuePolicy(settle_s=10, idle_s=300)
MIB = 1 << 20


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder: Path = tmp_path_factory.mktemp("known")
    opened = Store.open(StoreConfig(url=f"chdb:{folder}"), folder)
    yield opened
    opened.close()


def span(trace: int, number: int, parent: int = 0, *, tool: str = "", start_s: float = 0, task: str = "t") -> Span:
    attributes = {"gen_ai.operation.name": "execute_tool" if tool else "invoke_agent", "passhat.task.id": task}
    if tool:
        attributes["gen_ai.tool.name"] = tool
    at = START + int(start_s * SECOND_NS)
    return Span(
        f"{trace:032x}", f"{number:016x}", f"{parent:016x}" if parent else "", "step", 1, at, at + 99,
        0, "", attributes, (), (), Resource({"service.name": "s"}), Scope(),
    )  # fmt: skip


def put(store: Store, project: str, *spans: Span) -> None:
    words = Words()
    store.insert(Batch(spans=[span_row(project, START, one, facts_of(one, words)) for one in spans]))


def loop_over(store: Store, policy: DuePolicy) -> tuple[GradeLoop, Metrics]:
    metrics, checks = Metrics(), CheckSet.compile()
    grader = Grader(checks, Policy(), store.register_checks(checks.digest, "{}"))
    return GradeLoop(store, grader, policy, metrics), metrics


def results(store: Store, project: str) -> list[str]:
    rows = store.query(f"SELECT result FROM trials WHERE project = '{project}' ORDER BY run_id").rows
    return [result for (result,) in rows]


@pytest.mark.parametrize(("length_s", "every_s"), [(300, 30), (10, 2), (3600, 250)])
def test_b063_a_run_is_graded_when_it_is_over_however_long_it_took(length_s: int, every_s: int) -> None:
    """Spans come while the agent works, its root when it is done: no fixed delay is right for all of them."""
    state = UnitState(0, 0)
    for at_s in range(0, length_s, every_s):
        assert closes_at(state, SEEN)[0] > at_s * SECOND_NS
        state.arrive(at_s * SECOND_NS, at_s * SECOND_NS, rooted=False, ended=False)
    state.arrive(length_s * SECOND_NS, length_s * SECOND_NS, rooted=True, ended=False)
    assert closes_at(state, SEEN) == ((length_s + 10) * SECOND_NS, "root")


def test_b064_b066_a_root_that_comes_after_the_verdict_makes_one_trial_and_one_current_verdict(store: Store) -> None:
    put(store, "late", span(1, 2, 1, tool="a", start_s=1), span(1, 3, 1, tool="b", start_s=2))
    loop, _ = loop_over(store, AT_ONCE)
    loop.step()
    assert results(store, "late") == ["incomplete"]
    put(store, "late", span(1, 1, start_s=0))  # 240 s later or a day: nothing here counts the seconds
    loop.step()
    assert len(results(store, "late")) == 1
    assert results(store, "late") != ["incomplete"]
    rows = store.query("SELECT check_id, count() FROM current_verdicts WHERE project = 'late' GROUP BY check_id").rows
    assert rows
    assert {count for _, count in rows} == {1}


def test_b071_a_trace_without_an_end_is_incomplete_and_counts_beside_the_rate(store: Store) -> None:
    put(store, "torn", span(2, 2, 1, tool="a"))
    loop, _ = loop_over(store, DuePolicy(settle_s=0, idle_s=1e6, max_age_s=1))

    def stepped() -> list[str]:
        loop.step()
        return results(store, "torn")

    assert until(stepped, bool) == ["incomplete"]
    sql = "SELECT n, c, incomplete FROM task_reliability(start='2026-01-01', end='2027-01-01', k=1)"
    assert store.query(f"{sql} WHERE project = 'torn'").rows == [(0, 0, 1)]
    assert loop.waiting == 0


def test_b072_open_traces_are_a_few_numbers_in_memory(store: Store) -> None:
    """100,000 of them, with their spans in the store: read when they are due, 200 units at a time."""
    with store._connections.writer() as client:
        client.command(
            "INSERT INTO arrivals (stored_at, project, unit, trace_id, spans, root, run_end, collector)"
            " SELECT now64(9) + 600, 'open', hex(number), hex(number), 1, false, false, 'c' FROM numbers(100000)"
        )
    loop, _ = loop_over(store, SEEN)
    tracemalloc.start()
    loop.step()
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert loop.waiting >= 100_000
    assert used < 64 * MIB, f"{used / MIB:.0f} MiB"


def test_b079_many_small_traces_in_one_batch_are_many_runs(store: Store) -> None:
    traces = range(1000, 1500)
    put(store, "many", *(one for n in traces for one in (span(n, 1), span(n, 2, 1, tool="a"))))
    loop, _ = loop_over(store, AT_ONCE)
    loop.step()
    assert len(results(store, "many")) == len(traces)


def test_b110_every_tool_span_is_one_in_the_store_whatever_told_it(store: Store) -> None:
    """Six conventions: the store's column, the lines and the view that panels read count the same calls."""
    spans, expected = ready_input("I14")
    put(store, "six", *spans)
    loop, _ = loop_over(store, AT_ONCE)
    loop.step()
    counts = {
        table: store.query(f"SELECT count() FROM {table} WHERE project = 'six' AND {which}").rows[0][0]
        for table, which in (
            ("spans FINAL", "operation = 'tool'"),
            ("trace_lines FINAL", "role = 'assistant' AND tool != ''"),
            ("tool_calls", "tool = 'get_weather'"),
        )
    }
    assert set(counts.values()) == {expected["tool_calls"]}
