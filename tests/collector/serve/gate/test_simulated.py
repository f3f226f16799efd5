"""The simulation behind docs/gate.md looks as the gate does: one of its histories, in a store, gives its numbers."""

from __future__ import annotations

import statistics
from datetime import UTC, datetime
from typing import Any

import pytest

from collector.config.keys import GateConfig
from collector.serve.gate.numbers import anchored, numbers_of
from collector.store.sqlfiles import statement
from collector.store.store import Store
from tests.collector.serve.made import NOON_NS, grading

MONDAY_S = int(datetime(2026, 6, 1, tzinfo=UTC).timestamp())
ASKED = {"seed": 7, "alpha": 0.05, "histories": 1, "k": 3, "min": 0.8, "p": 0.97, "per_day": 20, "icc": 0.05}
HOUR_MS, LOOKS = 3_600_000, (1, 100, 170, 263, 600)
FILTERS: dict[str, Any] = {
    name: []
    for name in ("project", "environment", "service", "service_version", "agent", "model", "task", "class", "version")
}
TRIALS, LOOKED = (
    "SELECT day, hour, nth, passed FROM trials WHERE day < 70",
    """SELECT look, n, c, days, deff, low FROM (
    SELECT *, designEffect(n, c, days, squares) AS deff,
        least(gateLow(n, c, {k:UInt32}, deff, {alpha:Float64}), ifNull(passHatK(n, c, {k:UInt32}), 1.)) AS low
    FROM looks WHERE look IN {asked:Array(UInt32)})""",
)


def of_simulation(store: Store, query: str, **more: Any) -> list[dict[str, Any]]:
    """Another question to the tables the simulation is made of."""
    tables, found, _ = statement("gate/simulated").partition("SELECT\n    history, count() AS looks")
    assert found
    return store.query(
        tables.replace(
            "SELECT\n            history, day, toUInt32(24", "SELECT\n            nth, history, day, toUInt32(24"
        )
        + query,
        {**ASKED, **more},
    ).dicts()


def test_a_simulated_look_is_a_look_of_the_gate(store: Store) -> None:
    made = [
        grading(f"r{row['day']}/{row['nth']}", "pass" if row["passed"] else "fail", task_id="t",
                at_s=MONDAY_S + row["day"] * 86400 + row["hour"] * 3600 + 60 + row["nth"] - NOON_NS / 1e9)
        for row in of_simulation(store, TRIALS)
    ]  # fmt: skip
    assert 0.9 < sum(one.trial.result == "pass" for one in made) / len(made) < 1
    store.write_gradings(made)
    looks = of_simulation(store, LOOKED, asked=list(LOOKS))
    assert {row["look"] for row in looks} == set(LOOKS)
    assert any(row["deff"] > 1 for row in looks)
    for row in looks:
        window = anchored(MONDAY_S * 1000 + (35 * 24 + row["look"]) * HOUR_MS, 28 * 24 * HOUR_MS)
        seen = numbers_of(store, GateConfig(), {**FILTERS, "task": ["t"], "basis": []}, window, "task").row
        assert (seen["n"], seen["c"], seen["days"]) == (row["n"], row["c"], row["days"])
        assert (seen["deff"], seen["low"]) == pytest.approx((row["deff"], row["low"]))


def test_a_simulated_look_at_a_class_is_a_look_of_its_gate(store: Store) -> None:
    asked = {**ASKED, "tasks": 4, "p": 1.0, "p_other": 0.95, "per_day": 10}
    tables, _, last = statement("gate/simulated_class").partition("SELECT\n    history, count() AS looks")
    trials = tables.replace(
        "SELECT\n            history, day, toUInt32(24", "SELECT\n            nth, history, day, toUInt32(24"
    )
    trials += "SELECT day, hour, nth, task, passed FROM trials WHERE day < 50"
    made = [
        grading(f"c{row['day']}/{row['nth']}", "pass" if row["passed"] else "fail", task_id=f"t{row['task']}",
                task_class="simulated",
                at_s=MONDAY_S + row["day"] * 86400 + row["hour"] * 3600 + 60 + row["nth"] - NOON_NS / 1e9)
        for row in store.query(trials, asked).dicts()
    ]  # fmt: skip
    store.write_gradings(made)
    decided = last[last.index("(") :].partition("FROM\n(")[2].rpartition(")\nGROUP BY")[0]
    decided = decided.replace("AS history,", "AS history, looks.slot AS slot, looks.n AS n,", 1)
    looks = store.query(f"{tables} SELECT * FROM ({decided}) WHERE slot IN (141, 163, 190)", asked).dicts()
    assert len(looks) == 3
    for row in looks:
        window = anchored(MONDAY_S * 1000 + (row["slot"] + 1) * 6 * HOUR_MS, 28 * 24 * HOUR_MS)
        seen = numbers_of(store, GateConfig(), {**FILTERS, "class": ["simulated"], "basis": []}, window, "class").row
        assert (seen["n"], seen["tasks_used"]) == (row["n"], 4)
        assert (seen["deff"], seen["low"]) == pytest.approx((row["deff"], row["low"]))


def test_the_simulated_intervals_see_what_is_known_in_their_window(store: Store) -> None:
    def looked(**more: Any) -> list[dict[str, Any]]:
        asked = {"seed": 1, "days": 20, "histories": 3, "k": 1, "p": 0.5, "p_end": 0.5, "per_day": 40, "icc": 0.0,
                 "late_pass_h": 0, "late_fail_h": 0, "window_h": 10_000}  # fmt: skip
        return store.query(statement("gate/covered"), asked | more).dicts()

    for row in looked():
        assert (row["missed"], row["looks"]) == (0, 480)
        assert row["rate"] == pytest.approx(0.5, abs=0.1)
    assert all(row["rate"] == 1 and row["missed"] > 0.9 for row in looked(late_fail_h=480)), "no failure is known yet"
    falling = {"p": 1.0, "p_end": 0.0}
    since_start, short = (
        [statistics.fmean(row[name] for row in looked(**falling, **window)) for name in ("plain_missed", "missed_mean")]
        for window in ({}, {"window_h": 24})
    )
    assert since_start[0] > 0.7 > 0.1 > since_start[1], "today's rate is not that since the start"
    assert short[0] < 0.2, "a short window follows"
