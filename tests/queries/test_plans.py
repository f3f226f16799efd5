"""What queries read: the engine's own plans show that partitions and keys are used."""

from __future__ import annotations

import re

import pytest

from collector.store.reader import SPANS
from collector.store.store import Store
from semconv.trace_line import TraceLine
from tests.support.stores import batch, graded, row, span, trace

MONTHS = 6
CELLS = """
INSERT INTO {table} (project, {at}, task_id, task_version, checks_version, basis, task_source, pass, stamp)
SELECT 'default', toDateTime('2026-06-30 23:00:00', 'UTC') - number % ({months} * 30 * {per_day}) * {step},
    concat('t', toString(intDiv(number, {months} * 30 * {per_day}))), '1', 'c', 'outcome', 'attribute', 1, 1
FROM numbers({months} * 30 * {per_day} * {tasks})
"""


def fill(store: Store) -> None:
    """Half a year of counts: 4,320 hours and 180 days of 20 tasks."""
    with store._connections.writer() as client:
        client.command(CELLS.format(table="hour_counts", at="hour", months=MONTHS, per_day=24, step=3600, tasks=20))
        client.command(CELLS.format(table="day_counts", at="day", months=MONTHS, per_day=1, step=86400, tasks=200))


def reads(store: Store, sql: str, parameters: dict[str, object] | None = None) -> dict[str, tuple[int, int]]:
    """Granules read and there were, by table."""
    plan = "\n".join(line for (line,) in store.query(f"EXPLAIN indexes = 1 {sql}", parameters or {}).rows)
    found: dict[str, tuple[int, int]] = {}
    for part in plan.split("ReadFromMergeTree")[1:]:
        table = re.search(r"\.(\w+)\)", part)
        counts = [(int(a), int(b)) for a, b in re.findall(r"Granules: (\d+)/(\d+)", part)]
        if table and counts:
            found[table[1]] = (counts[-1][0], counts[0][1])
    return found


def test_a_window_reads_its_days_and_hours_only(store: Store) -> None:
    fill(store)
    window = "start='2026-03-10 05:30:00', end='2026-03-20 00:00:00'"
    read = reads(store, f"SELECT * FROM task_reliability({window}, k=3)")
    for table in ("hour_counts", "day_counts"):
        some, all_of_them = read[table]
        assert 0 < some <= all_of_them / 4, (table, read)


def test_a_month_reads_days_instead_of_hours(store: Store) -> None:
    fill(store)
    read = reads(store, "SELECT * FROM task_reliability(start='2026-03-01 00:00:00', end='2026-04-01 00:00:00', k=3)")
    assert "hour_counts" not in read or read["hour_counts"][0] == 0
    assert read["day_counts"][0] > 0


def test_points_in_time_read_their_months_only(store: Store) -> None:
    fill(store)
    given = "start='2026-03-10 00:00:00', end='2026-03-11 00:00:00', step_s=3600, window_s=86400, k=3"
    some, all_of_them = reads(store, f"SELECT * FROM reliability_over_time({given})")["hour_counts"]
    assert 0 < some <= all_of_them / 6


def test_a_unit_is_read_by_key(store: Store) -> None:
    store.insert(batch(*(row(span(trace(n), s)) for n in range(1, 201) for s in range(1, 31))))
    some, all_of_them = reads(store, SPANS, {"keys": [("default", trace(7)), ("default", trace(150))]})["spans"]
    assert all_of_them >= 20
    assert some <= 4


@pytest.mark.parametrize("table", ["trace_lines", "verdicts", "runs"])
def test_a_run_is_read_by_key(store: Store, table: str) -> None:
    store.write_gradings([graded(f"r{n}") for n in range(3000)])
    where = "project = 'default' AND run_key = reinterpretAsUInt128(sipHash128('default', 'r7'))"
    if table == "verdicts":
        with store._connections.writer() as client:
            client.command("INSERT INTO verdicts (project, run_id, check_id) SELECT project, run_id, 'c' FROM runs")
    some, all_of_them = reads(store, f"SELECT * FROM {table} FINAL WHERE {where}")[table]
    assert all_of_them >= 3
    assert some == 1


@pytest.mark.parametrize("view", ["trials", "tool_calls", "trace_lines"])
def test_people_who_ask_for_a_run_by_its_id_read_little(store: Store, view: str) -> None:
    lines = (TraceLine(n=1, role="assistant", tool="Bash"), TraceLine(n=2, role="result"))
    store.write_gradings([graded(f"r{n}", lines=lines) for n in range(3000)])
    table = {"trials": "runs"}.get(view, "trace_lines")
    some, all_of_them = reads(store, f"SELECT * FROM {view} WHERE run_id = 'r7'")[table]
    assert all_of_them >= 3
    assert some <= 2
