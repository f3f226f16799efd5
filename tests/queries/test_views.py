"""The views that `.sqltest` cannot load for: calls, objectives, spans as the exporter lays them out; and clocks."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from collector.store.store import Store
from semconv.span import Event, Link, Resource, Scope
from semconv.trace_line import TraceLine
from tests.support.stores import BASE_NS, ROOT, SECOND, batch, graded, outcome, row, span, trace, verdict

MINUTE = 60 * SECOND
HOUR = 60 * MINUTE


def test_each_logical_call_of_a_current_run_is_one_row(store: Store) -> None:
    lines = (
        TraceLine(n=1, role="user", text="go"),
        TraceLine(
            n=2, role="assistant", tool="Bash", tool_raw="shell", server="s", call_id="c", status="error", error="boom",
            start_ns=BASE_NS, end_ns=BASE_NS + SECOND // 4, agent="a", input={"command": "x"},
        ),
        TraceLine(n=3, role="tool", tool="Bash", output="out", call_id="c"),
        TraceLine(n=4, role="assistant", tool="Read", input={}),
        TraceLine(n=5, role="assistant", text="done"),
    )  # fmt: skip
    store.write_gradings([graded("r", lines=lines, actions={2: ("test_run",)}), graded("gone", lines=lines)])
    store.write_gradings([graded("r", lines=lines[:4], inputs=3), graded("gone", inputs=3, alive=False)])
    sql = """SELECT run_id, n, tool, tool_raw, server, actions, status, error, duration_ms, agent, task_id, input
        FROM tool_calls ORDER BY run_id, n"""
    assert store.query(sql).rows == [
        ("r", 2, "Bash", "shell", "s", [], "error", "boom", 250.0, "a", "book", '{"command":"x"}'),
        ("r", 4, "Read", "", "", [], "unset", "", None, "", "book", "{}"),
    ]
    when = store.query("SELECT time FROM tool_calls WHERE n = 2").rows[0][0]
    assert when == datetime.fromtimestamp(BASE_NS // SECOND, UTC)


def slo(name: str, **more: Any) -> dict[str, Any]:
    windows = [{"long": 3600, "short": 300, "burn": 2.0}, {"long": 21600, "short": 3600, "burn": 1.0}]
    return {"name": name, "task": "", "class": "", "k": 1, "target": 0.9, "min_n": 2, "windows": windows, **more}


def burns(store: Store, *slos: dict[str, Any]) -> dict[tuple[str, int], tuple[Any, ...]]:
    store.set_policy(slos=orjson.dumps(slos).decode())
    rows = store.query("SELECT slo, window_long, n, n_short, burn_long, burn_short, firing FROM slo_burn").rows
    return {
        (name, long): (n, short, *(None if x is None else round(x, 6) for x in burn), firing)
        for name, long, n, short, *burn, firing in rows
    }


def test_objectives_burn_over_long_and_short_windows(store: Store) -> None:
    """Failures per allowance: half of the trials fail where a tenth may."""
    now = store.now_ns()
    ages = {"pass": (2, 50, 100, 300), "fail": (3, 55, 400)}  # minutes
    store.write_gradings(
        [
            graded(f"{result}-{age}", result, now - age * MINUTE, task_class="c")
            for result, some in ages.items()
            for age in some
        ]
    )
    found = burns(store, slo("all"), slo("other", task="elsewhere"), slo("class", **{"class": "c"}, k=2, min_n=5))
    assert found["all", 3600] == (4, 2, 5.0, 5.0, True)
    assert found["all", 21600] == (6, 4, 3.333333, 5.0, True)
    assert found["other", 3600] == (0, 0, None, None, False)
    twice = 0.5 / (1 - 0.9**0.5)
    assert found["class", 3600] == (4, 2, round(twice, 6), round(twice, 6), False)  # below min_n
    assert found["class", 21600][4] is True


def test_an_objective_does_not_fire_on_one_window_alone(store: Store) -> None:
    now = store.now_ns()
    store.write_gradings([graded("old", "fail", now - 40 * MINUTE), graded("new", "pass", now - MINUTE)])
    assert burns(store, slo("all"))["all", 3600] == (2, 1, 5.0, 0.0, False)


def test_objectives_count_outcomes_where_there_are_any_and_only_newest_versions(store: Store) -> None:
    now = store.now_ns() - 10 * MINUTE
    store.write_gradings(
        [
            graded("a", "fail", now, basis="trajectory", checks_version="c1"),
            graded("b", "pass", now, basis="outcome", outcome="pass", checks_version="c1"),
            graded("c", "fail", now - 5 * HOUR, task_version="0", basis="outcome", outcome="fail", checks_version="c1"),
        ]
    )
    assert burns(store, slo("all"))["all", 21600][:3] == (1, 1, 0.0)
    assert store.query("SELECT DISTINCT basis FROM slo_burn").rows == [("outcome",)]


def test_no_objectives_no_rows(store: Store) -> None:
    assert store.query("SELECT * FROM slo_burn").rows == []


def test_spans_are_laid_out_as_the_exporter_does(store: Store) -> None:
    one = span(
        trace(1), 1, 2, name="n", kind=3, status_code=2, status_message="m", trace_state="k=v",
        attributes={"s": "x", "i": -5, "d": 0.5, "b": True, "none": None, "bytes": b"x", "l": [1]},
        events=(Event("e", BASE_NS + 7, {"k": 1}),), links=(Link("a" * 32, "b" * 16, "ts", {"z": 1.5}),),
        resource=Resource({"service.name": "shop", "n": 7, "flag": False}), scope=Scope("sc", "9"),
    )  # fmt: skip
    store.insert(batch(row(one), row(one, received_ns=BASE_NS + SECOND)))
    (found,) = store.query("SELECT * FROM otel_traces").dicts()
    stamps = found.pop("Timestamp"), found.pop("Events.Timestamp")
    assert stamps[0] == datetime.fromtimestamp(BASE_NS // SECOND, UTC)
    assert len(stamps[1]) == 1
    assert found == {
        "TraceId": trace(1), "SpanId": f"{1:016x}", "ParentSpanId": f"{2:016x}", "TraceState": "k=v", "SpanName": "n",
        "SpanKind": "Client", "ServiceName": "shop", "ScopeName": "sc", "ScopeVersion": "9", "Duration": SECOND // 2,
        "ResourceAttributes": {"service.name": "shop", "n": "7", "flag": "false"},
        "SpanAttributes": {
            "s": "x", "i": "-5", "d": "0.5", "b": "true", "none": "", "bytes": "eA==",
            "l": '{"arrayValue":{"values":[{"intValue":"1"}]}}',
        },
        "StatusCode": "Error", "StatusMessage": "m", "Project": "default",
        "Events.Name": ["e"], "Events.Attributes": [{"k": "1"}],
        "Links.TraceId": ["a" * 32], "Links.SpanId": ["b" * 16], "Links.TraceState": ["ts"],
        "Links.Attributes": [{"z": "1.5"}],
    }  # fmt: skip


def test_current_verdicts_say_what_the_run_is(store: Store) -> None:
    store.write_gradings([graded("r", verdicts=(verdict("a", "fail", lines=(2,), axis="calls", gate=True),))])
    store.write_gradings([graded("none", verdicts=())])
    (found,) = store.query("SELECT * FROM current_verdicts").dicts()
    assert (found["run_id"], found["check_id"], found["axis"], found["gate"], found["lines"], found["status"]) == (
        "r", "a", "calls", True, [2], "fail",
    )  # fmt: skip
    assert found["graded_at"].tzinfo is not None


TURNED = """
import sys, time
from pathlib import Path
from collector.store.store import Store
from tests.support.stores import Place, graded
store = Store.open(Place(f"chdb:{sys.argv[1]}"), Path(sys.argv[1]))
hour, spring = 3600 * 10**9, 1772953200 * 10**9  # 2026-03-08 07:00 UTC: New York goes from 2 to 3 o'clock
store.write_gradings([graded(f"r{n}", ended_ns=spring + n * hour // 2) for n in range(-4, 5)])
store.write_gradings([graded("now", ended_ns=store.now_ns() - hour // 60)])
def n(start, end):
    rows = store.query(f"SELECT n FROM task_reliability(start={start}, end={end}, k=1)").rows
    return sum(count for (count,) in rows)
print(n("'2026-03-08 06:00:00'", "'2026-03-08 08:00:00'"), n("'2026-03-08 06:30:00'", "'2026-03-08 07:00:00.001'"),
      n("now64(3) - INTERVAL 1 HOUR", "now64(3)"), store.query("SELECT min(ended) FROM trials").rows[0][0].isoformat())
store.close()
"""


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kathmandu", "UTC"])
def test_the_zone_of_the_machine_bends_no_window(zone: str, tmp_path: Any) -> None:
    command = [sys.executable, "-c", TURNED, str(tmp_path)]
    told = subprocess.run(command, cwd=ROOT, env={**os.environ, "TZ": zone}, capture_output=True, text=True, check=True)
    assert told.stdout == "4 2 1 2026-03-08T05:00:00+00:00\n"


def test_an_outcome_of_a_run_is_told_once_however_often_it_is_graded(store: Store) -> None:
    for inputs in (2, 3, 4):
        store.write_gradings([graded("r", inputs=inputs, outcomes=(outcome("r", time_ns=5),))])
    assert store.query("SELECT count() FROM outcomes FINAL").rows == [(1,)]
