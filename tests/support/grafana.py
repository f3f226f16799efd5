"""Statements of dashboards as Grafana's ClickHouse data source sends them: variables and macros expanded.

The browser fills variables and `$__conditionalAll`, for panels only; the data source's Go backend expands the other
macros, for panels and alerts. What it does not know it leaves as it is, so nothing with a `$` may be left here.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

ALL = ("$__all",)
_VARIABLE = re.compile(r"\$\{(\w+)(?::(\w+))?\}")
_BACKEND = re.compile(r"\$__(\w+)")


class Times(Struct, frozen=True):
    """The time range of a dashboard and the interval its panels get, in milliseconds."""

    start_ms: int
    end_ms: int
    interval_ms: int

    @classmethod
    def last(cls, end: dt.datetime, days: float, interval_s: int = 3600) -> Times:
        to_ms = int(end.timestamp() * 1000)
        return cls(to_ms - int(days * 86_400_000), to_ms, interval_s * 1000)


def panel_sql(raw: str, variables: Mapping[str, Sequence[str]], times: Times) -> str:
    """What reaches the engine for a panel. `variables` are the chosen values by name; ALL is everything."""
    return backend(in_browser(raw, variables), times)


def alert_sql(raw: str, times: Times) -> str:
    """What reaches the engine for an alert rule: nothing is filled in by a browser."""
    return backend(raw, times)


def in_browser(raw: str, variables: Mapping[str, Sequence[str]]) -> str:
    """`$__conditionalAll(condition, $variable)`, then `${variable}` and `${variable:singlequote}`."""
    while (at := raw.find("$__conditionalAll(")) >= 0:
        end = closing(raw, at + len("$__conditionalAll("))
        condition, _, variable = raw[at + len("$__conditionalAll(") : end].rpartition(",")
        name = variable.strip().removeprefix("$")
        assert re.fullmatch(r"\w+", name), f"the second argument must be a bare $variable, not {variable!r}"
        chosen = variables[name]
        raw = raw[:at] + ("1=1" if not chosen or "$__all" in chosen else condition) + raw[end + 1 :]
    return _VARIABLE.sub(lambda found: filled(variables[found[1]], found[2]), raw)


def filled(values: Sequence[str], form: str | None) -> str:
    if form == "singlequote":
        return ",".join("'" + value.replace("'", "\\'") + "'" for value in values)
    assert form is None, f"no form {form}"
    assert len(values) == 1, "several values need :singlequote"
    return values[0]


def backend(sql: str, times: Times) -> str:
    """The macros of the Go backend that our statements use."""
    start, end = times.start_ms // 1000, times.end_ms // 1000
    plain = {
        "fromTime_ms": f"fromUnixTimestamp64Milli({times.start_ms})",
        "toTime_ms": f"fromUnixTimestamp64Milli({times.end_ms})",
        "fromTime": f"toDateTime({start})",
        "toTime": f"toDateTime({end})",
        "interval_s": str(max(1, times.interval_ms // 1000)),
        "interval_ms": str(max(1, times.interval_ms)),
    }
    while found := _BACKEND.search(sql):
        name, after = found[1], found.end()
        if name in plain:
            sql = sql[: found.start()] + plain[name] + sql[after:]
            continue
        assert sql[after] == "(", f"${name} is no macro of the backend"
        stop = closing(sql, after + 1)
        sql = sql[: found.start()] + called(name, sql[after + 1 : stop].strip(), times) + sql[stop + 1 :]
    assert "$" not in sql, f"not expanded: {sql[sql.index('$') :][:40]}"
    return sql


def called(name: str, column: str, times: Times) -> str:
    start, end = times.start_ms // 1000, times.end_ms // 1000
    step = times.interval_ms
    low, high = f"fromUnixTimestamp64Milli({times.start_ms})", f"fromUnixTimestamp64Milli({times.end_ms})"
    return {
        "timeFilter": f"{column} >= toDateTime({start}) AND {column} <= toDateTime({end})",
        "timeFilter_ms": f"{column} >= {low} AND {column} <= {high}",
        "timeInterval": f"toStartOfInterval(toDateTime({column}), INTERVAL {max(1, step // 1000)} second)",
        "timeInterval_ms": f"toStartOfInterval(toDateTime64({column}, 3), INTERVAL {max(1, step)} millisecond)",
    }[name]


def closing(text: str, at: int) -> int:
    """Where the parenthesis that was opened just before `at` closes."""
    depth = 1
    while depth:
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return at - 1
