"""Every statement of every dashboard runs: macros expanded as the data source does it, through the SQL endpoint itself.

What is looked at is what Grafana needs: names, types and order of columns, rows sorted by time, nothing dear.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any

import httpx
import pytest

from collector.dashboards.parts import WIDTHS
from collector.dashboards.statements import about, sql, statement
from collector.store.sqlfiles import queries_root
from collector.store.store import Store
from tests.collector.dashboards.items import Item, items, params
from tests.support.grafana import ALL, Times, alert_sql, panel_sql

EVERYTHING: Mapping[str, Sequence[str]] = {
    "project": ALL, "class": ALL, "task": ALL, "service": ALL, "agent": ALL, "tool": ALL, "basis": ("outcome",),
    "k": ("3",), "window": ("604800",), "one": ("flaky-cache",), "run": ("flaky-cache-8",),
    "trace": ("000000006c616b792d63616368652d38",),
}  # fmt: skip
CHOSEN = EVERYTHING | {
    "project": ("default", "it's"), "class": ("coding",), "task": ("flaky-cache", "add-retry"), "service": ("agent",),
    "agent": ("coder",), "tool": ("Bash", "Edit"), "k": ("8",), "window": ("86400",),
}  # fmt: skip
NUMBERS = re.compile(r"(Nullable\()?(U?Int\d+|Float\d+)\)?")
TIMES = re.compile(r"DateTime(64)?\(.*'UTC'\)")
# Payload that a trace is full of: only the panels that show one run may touch it.
PAYLOAD = re.compile(r"\b(attr_\w+|events|links|resource|input|output|final_text|SpanAttributes|facts|body|text)\b")


def week(now: dt.datetime) -> Times:
    """Up to a moment after the fixture was stored."""
    return Times.last(now + dt.timedelta(minutes=5), 7)


class Answered:
    """Every answer once, and how long it took: most tests here look at the same ones from another side."""

    told: dict[str, tuple[dict[str, Any], float]] = {}  # noqa: RUF012


def answer(client: httpx.Client, sql: str) -> dict[str, Any]:
    return timed(client, sql)[0]


def timed(client: httpx.Client, sql: str) -> tuple[dict[str, Any], float]:
    if sql not in Answered.told:
        Answered.told[sql] = asked(client, sql)
    return Answered.told[sql]


def asked(client: httpx.Client, sql: str) -> tuple[dict[str, Any], float]:
    began = time.monotonic()
    reply = client.post("/clickhouse", content=sql, params={"default_format": "JSONCompact"})
    assert reply.status_code == 200, f"{reply.text}\n{sql}"
    return dict(reply.json()), time.monotonic() - began


def columns(found: dict[str, Any]) -> dict[str, str]:
    return {column["name"]: re.sub(r"LowCardinality\((.*)\)", r"\1", column["type"]) for column in found["meta"]}


@pytest.mark.parametrize("item", params())
def test_every_statement_answers_with_rows(client: httpx.Client, now: dt.datetime, item: Item) -> None:
    found = answer(client, panel_sql(item.sql, EVERYTHING, week(now)))
    assert found["rows"] > 0 or item.title in MAY_BE_EMPTY, "the fixture has rows for it"


# Of the fixture: nothing was repaired, and the run that is looked at has no report of its own.
MAY_BE_EMPTY = ("Repaired spans", "Reported outcomes")


@pytest.mark.parametrize("item", params())
def test_every_statement_runs_with_values_chosen(client: httpx.Client, now: dt.datetime, item: Item) -> None:
    answer(client, panel_sql(item.sql, CHOSEN, week(now)))


@pytest.mark.parametrize("item", params())
def test_every_statement_runs_over_a_range_without_anything(client: httpx.Client, item: Item) -> None:
    """Nothing happened: no error, no rate of 0 or 1, no NaN."""
    empty = Times.last(dt.datetime(2020, 1, 1, tzinfo=dt.UTC), 1, interval_s=60)
    nothing = EVERYTHING | {"run": ("none",), "trace": ("none",), "one": ("none",)}
    found = answer(client, panel_sql(item.sql, nothing, empty))
    assert "nan" not in json.dumps(found["data"]).lower()
    rates = [name for name in columns(found) if re.search(r"pass_|rate|low|high|worst", name) and name != "rate"]
    for row in found["data"]:
        told = dict(zip(columns(found), row, strict=True))
        assert [name for name in rates if told[name] is not None] == [], told


@pytest.mark.parametrize("item", params())
def test_values_of_variables_are_only_values(client: httpx.Client, now: dt.datetime, item: Item) -> None:
    one, several = ("x') OR 1=1 --",), ("x') OR 1=1 --", "<b>a,b")
    chosen = {name: several if values == ALL else one for name, values in EVERYTHING.items()}
    answer(client, panel_sql(item.sql, chosen | {"k": ("3",), "window": ("86400",)}, week(now)))


@pytest.mark.parametrize("item", params("timeseries", "state-timeline"))
def test_time_series_begin_with_time_in_order(client: httpx.Client, now: dt.datetime, item: Item) -> None:
    """A long series that is not sorted by time is refused by Grafana; text columns become labels."""
    assert item.form == 0
    found = answer(client, panel_sql(item.sql, EVERYTHING, week(now)))
    (first, kind), *rest = columns(found).items()
    assert first == "time"
    assert TIMES.fullmatch(kind), kind
    times = [row[0] for row in found["data"]]
    assert times == sorted(times)
    texts = [name for name, of in rest if of == "String"]
    assert len(texts) <= 1
    assert all(NUMBERS.fullmatch(of) for name, of in rest if name not in texts)
    labelled = [(row[0], *(row[list(columns(found)).index(name)] for name in texts)) for row in found["data"]]
    assert len(set(labelled)) == len(labelled), "two values for one time and label"


@pytest.mark.parametrize("item", params("stat"))
def test_numbers_are_one_row(client: httpx.Client, now: dt.datetime, item: Item) -> None:
    found = answer(client, panel_sql(item.sql, EVERYTHING, week(now)))
    assert found["rows"] == 1
    shown = [name for name in columns(found) if picked(item, name)]
    assert all(NUMBERS.fullmatch(columns(found)[name]) for name in shown)
    wanted = item.panel["options"]["reduceOptions"]["fields"].strip("/^()$").split("|")
    assert len(shown) == len(wanted), f"{wanted} pick {shown}: Grafana matches the name that a field is shown by"


def picked(item: Item, column: str) -> bool:
    """Whether a stat shows this column: the pattern is held against its display name, variables filled in."""
    name = column
    for override in item.panel["fieldConfig"]["overrides"]:
        if override["matcher"]["options"] == column:
            name = {entry["id"]: entry["value"] for entry in override["properties"]}.get("displayName", name)
    pattern = item.panel["options"]["reduceOptions"]["fields"].strip("/")
    return re.search(pattern, name.replace("$k", EVERYTHING["k"][0])) is not None


@pytest.mark.parametrize("item", params("barchart"))
def test_bars_have_a_text_and_numbers(client: httpx.Client, now: dt.datetime, item: Item) -> None:
    found = answer(client, panel_sql(item.sql, EVERYTHING, week(now)))
    (first, kind), *rest = columns(found).items()
    assert (first, kind) == (item.panel["options"]["xField"], "String")
    assert all(NUMBERS.fullmatch(of) for _, of in rest)


@pytest.mark.parametrize("item", params("table"))
def test_overrides_name_columns_that_exist(client: httpx.Client, now: dt.datetime, item: Item) -> None:
    names = columns(answer(client, panel_sql(item.sql, EVERYTHING, week(now))))
    for override in item.panel["fieldConfig"]["overrides"]:
        if override in WIDTHS:
            continue
        wanted = override["matcher"]["options"]
        pattern = wanted.strip("/") if wanted[0] == "/" else f"^{re.escape(wanted)}$"
        assert any(re.search(pattern, name) for name in names), f"{wanted} is no column of {list(names)}"


@pytest.mark.parametrize("item", params("table", "traces", "variable", "annotation"))
def test_tables_are_sorted_and_bounded(item: Item) -> None:
    """The same rows in the same order each time, and never more than a browser takes."""
    if "WHERE run_id = " in item.sql or "FROM slo_burn" in item.sql or "FROM system.tables" in item.sql:
        return
    assert "ORDER BY" in item.sql
    assert "LIMIT" in item.sql or "GROUP BY" in item.sql or "DISTINCT" in item.sql


def test_the_trace_panel_has_its_columns(client: httpx.Client, now: dt.datetime) -> None:
    """B169, B170: names and types that Grafana's trace view knows, and times that keep microseconds."""
    (item,) = [item for item in items() if item.kind == "traces"]
    assert item.form == 3
    found = answer(client, panel_sql(item.sql, EVERYTHING, week(now)))
    assert columns(found) == {
        "traceID": "String", "spanID": "String", "parentSpanID": "String", "serviceName": "String",
        "operationName": "String", "startTime": "Float64", "duration": "Float64",
        "tags": "Array(Map(String, String))", "serviceTags": "Array(Map(String, String))", "statusCode": "UInt8",
    }  # fmt: skip
    rows = [dict(zip(columns(found), row, strict=True)) for row in found["data"]]
    (root,) = [row for row in rows if row["parentSpanID"] == ""]
    fractions = [row["startTime"] % 1 for row in rows if row is not root]
    assert all(abs(fraction - 0.123456) < 0.001 for fraction in fractions)
    assert {"key": "odd", "value": "<b>it's</b>"} in root["tags"]
    assert {"key": "host.name", "value": "box <1>"} in root["serviceTags"]


def test_a_call_of_less_than_a_millisecond_is_not_0(client: httpx.Client, now: dt.datetime) -> None:
    """B168: integer division made short spans 0."""
    (item,) = [item for item in items() if item.title == "Tools: the most called first"]
    found = answer(client, panel_sql(item.sql, EVERYTHING | {"tool": ("Read",)}, week(now)))
    (row,) = [dict(zip(columns(found), row, strict=True)) for row in found["data"]]
    assert 0.3 < row["p50_ms"] < 2
    assert row["p50_ms"] % 1 != 0


@pytest.mark.parametrize("item", params("variable"))
def test_variables_need_no_time_range(item: Item) -> None:
    """B167: in a variable the time macros became 0..0."""
    assert re.findall(r"\$__(from|to|time|interval)\w*", item.sql) == []


@pytest.mark.parametrize("item", params())
def test_only_the_run_page_reads_payload(item: Item) -> None:
    """B156: a panel that reads the payload of all spans runs out of memory."""
    if item.board == "passhat-run" or item.kind == "annotation":
        return
    read = set(PAYLOAD.findall(item.sql)) - (
        {"input", "text"} if item.title == "The same call again and again" else set()
    )
    assert read == set()


@pytest.mark.parametrize("item", params())
def test_durations_say_their_unit(client: httpx.Client, now: dt.datetime, item: Item) -> None:
    """B171: a number of nanoseconds under a plain name."""
    for name in columns(answer(client, panel_sql(item.sql, EVERYTHING, week(now)))):
        if re.search(r"(^|_)(duration|lag|waiting|oldest|p50|p95|long|short)(_|$)", name) and "burn" not in name:
            assert name.endswith(("_s", "_ms")) or item.kind == "traces", name


def test_variables_are_quoted_and_filters_let_everything_through() -> None:
    for item in items():
        for name, form in re.findall(r"\$\{(\w+)(?::(\w+))?\}", item.sql):
            assert form == "singlequote" or name in ("k", "window"), f"{item.id}: ${{{name}}}"
        for name in re.findall(r"IN \(\$\{(\w+):singlequote\}\)", item.sql):
            assert f"IN (${{{name}:singlequote}}), ${name})" in item.sql, f"{item.id}: no $__conditionalAll for {name}"


def test_the_numbers_are_those_of_the_views(client: httpx.Client, store: Store, now: dt.datetime) -> None:
    """B165: the macros of milliseconds and seconds give the rows that were stored."""
    times = week(now)
    (tasks,) = [item for item in items() if item.title == "Tasks: the least reliable first"]
    found = answer(client, panel_sql(tasks.sql, EVERYTHING, times))
    shown = {row["task"]: row for row in (dict(zip(columns(found), row, strict=True)) for row in found["data"])}
    start, end = (dt.datetime.fromtimestamp(ms / 1000, dt.UTC) for ms in (times.start_ms, times.end_ms))
    view = "task_reliability(start={start:DateTime64(3)}, end={end:DateTime64(3)}, k=3)"
    rows = store.query(f"SELECT * FROM {view} WHERE basis = 'outcome'", {"start": start, "end": end}).dicts()
    assert len(rows) == len(shown) == 10
    for row in rows:
        same = ("n", "pass_hat_k", "pass_at_k", "low", "high", "flag")
        for mine, theirs in (*zip(same, same, strict=True), ("passed", "c"), ("worst", "pass_hat_k_worst")):
            assert shown[row["task_id"]][mine] == row[theirs]


def test_no_statement_is_dear(client: httpx.Client, now: dt.datetime) -> None:
    """Seconds at this size would be minutes with a year of data."""
    slow = {}
    for item in items():
        sql = panel_sql(item.sql, EVERYTHING, week(now))
        took = timed(client, sql)[1]
        if took > 3:  # a busy machine, or a dear statement
            took = min(took, *(asked(client, sql)[1] for _ in range(3)))
        if took > 3:
            slow[item.id] = round(took, 2)
    assert slow == {}


ALERTS = sorted(path.stem for path in (queries_root() / "panels").iterdir() if path.name.startswith("alert_"))


@pytest.mark.parametrize("name", ALERTS)
def test_an_alert_is_one_number_with_labels(client: httpx.Client, now: dt.datetime, name: str) -> None:
    """A table of one numeric column, texts beside it: anything else is refused as a long series."""
    found = answer(client, alert_sql(sql(name), Times.last(now, 1)))
    kinds = list(columns(found).values())
    assert kinds.count("Float64") == 1
    assert set(kinds) <= {"Float64", "String"}


def test_the_objectives_of_the_fixture_fire(client: httpx.Client) -> None:
    assert answer(client, sql("alert_burn_slow"))["data"] == [["coding agent", 1], ["docs", 0]]


def test_every_file_is_used_and_says_what_it_tells() -> None:
    files = sorted(path.name.removesuffix(".sql") for path in (queries_root() / "panels").iterdir())
    sent = {item.sql for item in items()}
    for name in files:
        if not name.startswith("alert_"):
            assert statement(name).statement in sent, f"queries/panels/{name}.sql is on no dashboard"
        assert len(about(name)) > 30
        assert about(name).split("?")[0] != about(name) or "columns" in about(name) or name == "run_spans", name
