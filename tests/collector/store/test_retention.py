"""How long each table keeps its rows: put in force at start, changed only where it differs, and rows that go."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from collector.config import load
from collector.store.retention import DAY_S, FOR_EVER, TABLES
from collector.store.store import Store
from tests.support.stores import BASE_NS, SECOND, batch, graded, outcome, row, span, trace, verdict


class Ages(Struct, frozen=True):
    """As `config.retention`."""

    spans: int = 90 * DAY_S
    logs: int = 30 * DAY_S
    runs: int = 730 * DAY_S
    verdicts: int = 730 * DAY_S


def merged(store: Store) -> None:
    """What background merges do some time, now."""
    with store._connections.writer() as client:
        for table in TABLES:
            client.command(f"OPTIMIZE TABLE {table} FINAL")


def merging(store: Store, what: str) -> None:
    with store._connections.writer() as client:
        client.command(f"SYSTEM {what} TTL MERGES spans")


def count(store: Store, table: str) -> int:
    return int(store.query(f"SELECT count() FROM {table}").rows[0][0])


def test_every_table_has_an_age_or_a_reason_to_stay(open_store: Callable[[], Store]) -> None:
    store = open_store()
    names = {name for (name,) in store.query(
        "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree%'"
    ).rows}  # fmt: skip
    assert names == {*TABLES, *FOR_EVER}


def test_ages_are_put_in_force_once_and_changed_only_where_they_differ(open_store: Callable[[], Store]) -> None:
    store = open_store()
    config = load(env={})
    assert set(store.retention.apply(config.retention, config.runs.max_age_s)) == set(TABLES)
    assert store.retention.apply(config.retention, config.runs.max_age_s) == []
    assert store.retention.apply(Ages(logs=7 * DAY_S), 86_400) == ["logs"]
    telemetry = {"spans", "joins", "joins_by_unit", "arrivals"}
    assert set(store.retention.apply(Ages(logs=7 * DAY_S, spans=0), 86_400)) == telemetry
    kept = {one.table: one.keep_s for one in store.retention.tables()}
    assert (kept["spans"], kept["logs"], kept["joins"], kept["runs"]) == (None, 7 * DAY_S, None, 730 * DAY_S)
    assert kept["arrivals"] is None  # else what no collector graded could not be found while its spans are there
    store.close()
    again = open_store()
    assert again.retention.apply(Ages(logs=7 * DAY_S, spans=0), 86_400) == []


def test_spans_go_by_when_they_were_received_whatever_they_say_of_themselves(store: Store) -> None:
    now = store.now_ns()
    old, new = row(span(trace(1), 1), received_ns=now - 100 * DAY_S * SECOND), row(span(trace(2), 1), received_ns=now)
    absurd = row(span(trace(3), 1, start_ns=1, end_ns=2), received_ns=now)
    store.retention.apply(Ages(spans=0), 86_400)
    store.insert(batch(old, new, absurd))
    merging(store, "STOP")
    store.retention.apply(Ages(), 86_400)
    told = {one.table: one for one in store.retention.tables()}["spans"]
    assert (told.rows, told.expired, told.soon) == (3, 1, 0)
    assert told.bytes > 0
    merging(store, "START")
    merged(store)
    assert {trace_id for (trace_id,) in store.query("SELECT trace_id FROM spans").rows} == {trace(2), trace(3)}
    soon = {one.table: one for one in (store.retention.apply(Ages(spans=DAY_S), 86_400), store.retention.tables())[1]}
    assert (soon["spans"].expired, soon["spans"].soon) == (0, 2)


def test_a_run_goes_with_its_lines_outcomes_and_counts(store: Store) -> None:
    now = store.now_ns()
    long_ago = now - 800 * DAY_S * SECOND
    for run_id, ended_ns in (("old", long_ago), ("new", now - SECOND)):
        store.write_gradings([graded(run_id, ended_ns=ended_ns, verdicts=(verdict("c"),), workspace_id="w")])
    store.add_outcomes([("default", replace(outcome("new"), time_ns=now))])
    store.retention.apply(Ages(), 86_400)
    merged(store)
    assert store.query("SELECT run_id FROM trials").rows == [("new",)]
    left = {table: count(store, table) for table in ("runs", "run_hours", "hour_counts", "day_counts", "trace_lines")}
    assert left == {"runs": 1, "run_hours": 1, "hour_counts": 1, "day_counts": 1, "trace_lines": 2}
    assert {count(store, table) for table in ("run_places", "run_workspaces", "outcomes")} == {1}
    # Its history of verdicts began when it was graded.
    assert count(store, "verdicts") == 2
    assert store.repair() == 0, "what expired must not be taken for a crash"


def test_recent_rows_stay(store: Store) -> None:
    store.write_gradings([graded("run", ended_ns=max(BASE_NS, store.now_ns() - DAY_S * SECOND))])
    store.retention.apply(Ages(runs=30 * DAY_S), 86_400)
    merged(store)
    assert store.query("SELECT run_id FROM trials").rows == [("run",)]
