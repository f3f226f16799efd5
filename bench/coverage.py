"""How often intervals, gates of classes and marks of a change are wrong, simulated through the SQL that tells them.

    python -m bench.coverage [--histories 200] [--figures docs/figures]

prints the tables of docs/statistics.md and draws its figures.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import chdb

from collector.store.sqlfiles import statement, view_files

Row = dict[str, Any]
YEAR, EVER = 365, 1_000_000
SAME: Row = {"seed": 1, "days": YEAR, "k": 1, "icc": 0.0, "late_pass_h": 0, "late_fail_h": 0}
WINDOWS = {"since a fixed start": EVER, "the last 7 days": 168, "the last 28 days": 672}
# What the trials are, and what differs from independent ones at a steady rate that are known at once.
TRIALS: dict[str, Row] = {
    "p 0.8, 5 a day": {"p": 0.8, "per_day": 5},
    "p 0.95, 20 a day": {"p": 0.95, "per_day": 20},
    "p 0.8, 100 a day, clustered (ICC 0.05)": {"p": 0.8, "per_day": 100, "icc": 0.05},
    "p 0.95 falling to 0.75, 20 a day": {"p": 0.95, "p_end": 0.75, "per_day": 20},
    "p 0.9, 20 a day, passes known after 6 h, failures after 72 h": {
        "p": 0.9, "per_day": 20, "late_pass_h": 6, "late_fail_h": 72,
    },
}  # fmt: skip
LOOKED = (30, 90, YEAR)
# k, min, pass rates of the two halves of ten tasks (their mean p^k is min, or a good class), ICC.
CLASSES = (
    ("alike, at the boundary", 0.8 ** (1 / 3), 0.8 ** (1 / 3), 0.0),
    ("half never fail, at the boundary", 1.0, 0.6 ** (1 / 3), 0.0),
    ("alike, at the boundary, clustered", 0.8 ** (1 / 3), 0.8 ** (1 / 3), 0.05),
    ("alike, good", 0.99, 0.99, 0.0),
    ("half never fail, half at 0.96", 1.0, 0.96, 0.0),
)
# Days of trials of one task; every history is a project of its own, so that each is looked at alone.
DAYS = """(
    SELECT toString(history) AS project, 't' AS task_id, '' AS task_version, '' AS checks_version, 'outcome' AS basis,
        '' AS task_class, 'attribute' AS task_source, toDateTime('2026-01-01', 'UTC') + day * 86400 AS at,
        count() AS n, countIf(passed) AS c
    FROM
    (
        SELECT intDiv(number, 400) AS history, intDiv(number, 10) % 40 AS day,
            if(day < 20, {p:Float64}, {p_after:Float64}) AS rate,
            cityHash64('pass', number, {seed:UInt64}) / pow(2, 64) < multiIf(
                {icc:Float64} = 0, rate,
                cityHash64('day', intDiv(number, 10), {seed:UInt64}) / pow(2, 64)
                    < (1 - rate) / (1 - rate + {icc:Float64} * rate),
                (1 - {icc:Float64}) * rate, 1.) AS passed
        FROM numbers({histories:UInt32} * 400)
    )
    GROUP BY history, day
) AS counts"""
CHANGES = (("0.95, steady", 0.95, 0.95, 0.0), ("0.95, steady, clustered", 0.95, 0.95, 0.05),
           ("0.95, then 0.8", 0.95, 0.8, 0.0), ("0.95, then 0.6", 0.95, 0.6, 0.0))  # fmt: skip


class Engine:
    """The SQL functions in a ClickHouse of their own."""

    def __init__(self) -> None:
        self._connection = chdb.connect(":memory:")
        for file in view_files():
            if file.kind == "FUNCTION":
                self._connection.query(file.statement)

    def rows(self, sql: str, asked: Row) -> list[Row]:
        told = self._connection.query(sql, "JSONEachRow", params=asked)
        return [json.loads(line) for line in str(told.data()).splitlines()]


def coverage(engine: Engine, histories: int) -> dict[tuple[str, str], list[Row]]:
    """The histories of each kind of trials and window."""
    return {
        (trials, window): engine.rows(
            statement("gate/covered"), {**SAME, "p_end": of["p"], **of, "window_h": hours, "histories": histories}
        )
        for trials, of in TRIALS.items()
        for window, hours in WINDOWS.items()
    }


def ever(rows: Sequence[Row], days: float, name: str = "first_miss") -> float:
    """The share of histories with a miss within so many days."""
    return sum(1 for row in rows if row[name] is not None and row[name] <= days) / len(rows)


def covered_table(found: dict[tuple[str, str], list[Row]]) -> str:
    lines = [
        "| trials | window | ever missed in 30 / 90 / 365 days | looks that miss | without deff | "
        "looks that miss the window's mean rate | mean width |",
        "|---|---|---|---|---|---|---|",
    ]
    for (trials, window), rows in found.items():
        missed = " / ".join(f"{ever(rows, days):.3f}" for days in LOOKED)
        shares = [
            statistics.fmean(row[name] for row in rows) for name in ("missed", "plain_missed", "missed_mean", "width")
        ]
        lines.append(f"| {trials} | {window} | {missed} | " + " | ".join(f"{share:.3f}" for share in shares) + " |")
    return "\n".join(lines)


def class_table(engine: Engine, histories: int) -> str:
    lines = [
        "| ten tasks, k 3, min 0.8, 20 trials a day | ever allowed in a year | looks that allow |",
        "|---|---|---|",
    ]
    for name, p, p_other, icc in CLASSES:
        asked = {"seed": 1, "histories": histories, "k": 3, "min": 0.8, "p": p, "p_other": p_other, "icc": icc}
        rows = engine.rows(statement("gate/simulated_class"), {**asked, "per_day": 20, "tasks": 10, "alpha": 0.05})
        some = sum(row["allows"] > 0 for row in rows) / len(rows)
        share = sum(row["allows"] for row in rows) / sum(row["looks"] for row in rows)
        lines.append(f"| {name} | {some:.3f} | {share:.3f} |")
    return "\n".join(lines)


def change_table(engine: Engine, histories: int) -> str:
    [view] = [file.statement for file in view_files() if file.object == "change_points"]
    sql = re.sub(r"counts_between\(.*\) AS counts", lambda _: DAYS, view.partition(" AS\n")[2])
    lines = [
        "| 40 days of 10 trials, pass rate | marked | day marked: median (true: 20), middle half |",
        "|---|---|---|",
    ]
    for name, p, p_after, icc in CHANGES:
        rows = engine.rows(sql, {"seed": 1, "histories": histories, "p": p, "p_after": p_after, "icc": icc})
        days = sorted(day_of(row["changed_on"]) for row in rows if row["change"])
        spread = "-"
        if len(days) > 3:
            low, middle, high = statistics.quantiles(days, n=4)
            spread = f"{middle:g}, {low:g} to {high:g}"
        lines.append(f"| {name} | {len(days) / len(rows):.3f} | {spread} |")
    return "\n".join(lines)


def day_of(date: str) -> int:
    """Days since the first: months of 2026 are told by their day of the year."""
    return time.strptime(date, "%Y-%m-%d").tm_yday - 1


def figure(title: str, curves: dict[str, list[Row]]) -> str:
    """An SVG: the share of histories with a miss so far, over a year."""
    colours = ("#3e7bfa", "#d9480f", "#2b8a3e", "#862e9c")
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 320" font-family="sans-serif" font-size="12">',
        '<rect width="640" height="320" fill="#fff"/>', f'<text x="50" y="20" font-size="14">{title}</text>',
        *(f'<path d="M50 {280 - 240 * y / 4:g}H620" stroke="#ddd"/><text x="44" y="{284 - 240 * y / 4:g}" '
          f'text-anchor="end">{y / 4:g}</text>' for y in range(5)),
        *(f'<text x="{50 + 570 * day / YEAR:.0f}" y="298" text-anchor="middle">{day}</text>'
          for day in (0, 90, 180, 270, 360)),
        '<text x="335" y="315" text-anchor="middle">days looked at, every hour</text>',
        '<path d="M50 268H620" stroke="#888" stroke-dasharray="4"/><text x="616" y="264" text-anchor="end">0.05</text>',
    ]  # fmt: skip
    for number, (name, rows) in enumerate(curves.items()):
        line = " ".join(
            f"{50 + 570 * day / YEAR:.1f},{280 - 240 * ever(rows, day):.1f}" for day in range(0, YEAR + 1, 5)
        )
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colours[number]}" stroke-width="2"/>')
        parts.append(f'<text x="60" y="{50 + 16 * number}" fill="{colours[number]}">{name}</text>')
    return "\n".join([*parts, "</svg>", ""])


def draw(found: dict[tuple[str, str], list[Row]], folder: Path) -> None:
    steady, *others = TRIALS
    title = "Histories whose interval has missed the pass rate so far"
    pages = {
        "ever_missed.svg": (f"{title}: {steady}", {window: found[steady, window] for window in WINDOWS}),
        "ever_missed_28_days.svg": (
            f"{title}: the last 28 days",
            {name: found[name, "the last 28 days"] for name in others},
        ),
    }
    for name, (said, curves) in pages.items():
        (folder / name).write_text(figure(said, curves), "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--histories", type=int, default=200)
    parser.add_argument("--figures", type=Path)
    asked = parser.parse_args()
    begun, engine = time.monotonic(), Engine()
    found = coverage(engine, asked.histories)
    print(covered_table(found), end="\n\n", flush=True)
    print(class_table(engine, asked.histories), end="\n\n", flush=True)
    print(change_table(engine, 10 * asked.histories), end="\n\n")
    if asked.figures:
        draw(found, asked.figures)
    print(f"{asked.histories} histories, {10 * asked.histories} of changes; {time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
