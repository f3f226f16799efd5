"""The unit of assembly: all traces and logs that a join key connects, whichever member is asked for."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collector.store.reader import _components
from collector.store.rows import Batch, log_row
from collector.store.store import Store
from semconv.facts import Facts
from tests.collector.store.test_insert import log
from tests.support.stores import BASE_NS, batch, graded, outcome, row, span, trace


def joined(number: int, *keys: str) -> object:
    return row(span(trace(number), 1), Facts(join_keys=keys))


def test_traces_joined_in_a_chain_are_one_unit(store: Store) -> None:
    store.insert(batch(joined(1, "a"), joined(2, "a", "b"), joined(3, "b"), joined(4)))  # type: ignore[arg-type]
    store.insert(Batch([], [log_row("default", BASE_NS, log(), Facts(join_keys=("b",)))]))
    keys = [("default", trace(n)) for n in (1, 3, 4)]
    units = store.read_units([*keys, ("default", "b")])
    first = units[keys[0]]
    assert first.members == (trace(1), trace(2), trace(3), "b")
    assert first.trace_ids == (trace(1), trace(2), trace(3))
    assert first.join_keys == ("a", "b")
    assert len(first.facts) == 4
    assert units[keys[1]] is units["default", "b"] is first
    assert units[keys[2]].members == (trace(4),)


def test_a_key_joins_only_within_its_project(store: Store) -> None:
    store.insert(batch(joined(1, "a"), row(span(trace(2), 1), Facts(join_keys=("a",)), project="other")))  # type: ignore[arg-type]
    assert store.read_units([("default", trace(1))])["default", trace(1)].members == (trace(1),)


def test_an_unknown_unit_is_empty(store: Store) -> None:
    unit = store.read_units([("default", trace(9))])["default", trace(9)]
    assert (unit.members, unit.facts, unit.runs) == ((trace(9),), (), ())
    assert store.read_units([]) == {}


def test_runs_written_for_any_member_come_with_the_unit(store: Store) -> None:
    store.insert(batch(joined(1, "a"), joined(2, "a")))  # type: ignore[arg-type]
    store.write_gradings([graded("r1", trace_ids=(trace(1),)), graded("r2", trace_ids=(trace(2),), alive=False)])
    runs = store.read_units([("default", trace(1))])["default", trace(1)].runs
    assert [(run.run_id, run.alive, run.revision, run.input_digest) for run in runs] == [
        ("r1", True, 1, "d1"),
        ("r2", False, 1, "d1"),
    ]


def test_an_outcome_asks_for_its_units_again(store: Store) -> None:
    store.insert(batch(joined(1, "run-1"), joined(2, "run-1")))  # type: ignore[arg-type]
    store.write_gradings([graded("known", trace_ids=(trace(3), trace(4)))])
    said = [outcome("known"), outcome("run-1"), outcome(f"{trace(5)}:{'a' * 16}"), outcome(trace(6))]
    since = store.now_ns()
    store.add_outcomes([("default", one) for one in said])
    assert {unit for _, unit, at in store.touched_since(since) if at >= since} == {trace(n) for n in range(1, 7)}
    assert store.arrivals_since(since) == []


def test_outcomes_are_kept_once_and_told_by_run(store: Store) -> None:
    first = outcome("r", "pass", "human", reason="fine", score=0.5, time_ns=5)
    second = outcome("r", "fail", "human", time_ns=4, id="key")
    store.add_outcomes([("default", first), ("default", second), ("other", first)])
    store.add_outcomes([("default", first)])
    found = store.outcomes_of([("default", "r"), ("default", "unknown")])
    assert [(one.result, one.reason, one.score, one.time_ns) for one in found["default", "r"]] == [
        ("fail", "", None, 4),
        ("pass", "fine", 0.5, 5),
    ]
    assert list(found) == [("default", "r")]


def test_an_outcome_sent_again_under_its_id_replaces_the_first(store: Store) -> None:
    store.add_outcomes([("default", outcome("r", "pass", id="key"))])
    store.add_outcomes([("default", outcome("r", "fail", id="key"))])
    assert [one.result for one in store.outcomes_of([("default", "r")])["default", "r"]] == ["fail"]


def test_outcomes_in_telemetry_are_kept_but_not_told_again(store: Store) -> None:
    store.write_gradings([graded("r", outcomes=(outcome("r", "pass"),))])
    assert store.outcomes_of([("default", "r")]) == {}
    assert store.query("SELECT run_id, result, from_telemetry FROM outcomes").rows == [("r", "pass", True)]


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12))
def test_components_are_those_of_the_graph(pairs: list[tuple[int, int]]) -> None:
    units = {("p", str(unit)) for unit, _ in pairs} | {("p", "alone")}
    keys_of = {unit: {f"k{key}" for u, key in pairs if str(u) == unit[1]} for unit in units}
    units_of = {("p", f"k{key}"): {str(u) for u, k in pairs if k == key} for _, key in pairs}
    sets = _components(keys_of, units_of)
    assert sorted(member for _, members, _ in sets for member in members) == sorted(unit for _, unit in units)
    for _, members, keys in sets:  # closed: no key leads out, and every member is reached
        assert {unit for key in keys for unit in units_of["p", key]} in (set(members), set())
        assert set().union(*(keys_of["p", member] for member in members)) == set(keys)
