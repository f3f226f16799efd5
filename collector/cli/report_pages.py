"""A report as CSV, and as one HTML file with charts: no script, nothing loaded from anywhere, names escaped."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from collector.cli.out import SQUARES, cell
from collector.cli.report_beside import CHANGED, changed

Row = dict[str, Any]
KEY = ("project", "task_id", "task_version", "checks_version", "basis", "task_class")
COUNTS = ("n", "c", "errors", "invalid", "unknown", "incomplete")
RATES = ("pass_at_k", "pass_hat_k", "pass_hat_k_worst", "low", "high")
FORMULA = ("=", "+", "-", "@", "\t", "\r")
BAR, ROW = 260, 22
STYLE = (
    "body{font:14px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:75rem;color:#1c2024;background:#fff}"
    "table{border-collapse:collapse}td,th{padding:.2rem .7rem;text-align:left;border-bottom:1px solid #ddd}"
    ".num{text-align:right;font-variant-numeric:tabular-nums}.strip{letter-spacing:.1em;white-space:nowrap}"
    "caption{text-align:left;font-weight:600;padding:.5rem 0}"
)


def as_csv(answer: Row) -> str:
    """One line per row of tasks and k. Text that a spreadsheet would run as a formula is quoted by an apostrophe."""
    written = io.StringIO()
    lines = csv.writer(written)
    lines.writerow([*KEY, "k", *COUNTS, *RATES, "guarantee", "flag"])
    for row in answer["tasks"]:
        for k in row["pass_hat_k"]:
            values = [
                *(row[name] for name in KEY),
                k,
                *(row[name] for name in COUNTS),
                *(row[name][k] for name in RATES),
            ]
            lines.writerow([_safe(value) for value in (*values, row["guarantee"], row["flag"])])
    return written.getvalue()


def _safe(value: object) -> object:
    """Numbers as they are, None as nothing, text that starts like a formula behind an apostrophe."""
    if isinstance(value, str) and value.lstrip().startswith(FORMULA):
        return "'" + value
    return "" if value is None else value


def as_html(answer: Row, beside: Mapping[str, Sequence[Row]]) -> str:
    """The report as a page of its own; `beside` as `report_beside.asked` gives it."""
    ks = answer["k"]
    window = answer["window"]
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        f"<title>passhat report</title><style>{STYLE}</style><h1>Reliability</h1>",
        f"<p>{_text(window['start'])} to {_text(window['end'])}; trials that errored: {_text(answer['errors'])}. "
        "pass@k: at least one of k tries passes; pass^k: all k pass. The bar is pass^k, the line its interval "
        "(at this look, 95 %). Empty: fewer than k trials.</p>",
    ]
    for basis, name in (("outcome", "pass^"), ("trajectory", "clean^")):
        rows = [row for row in answer["tasks"] if row["basis"] == basis]
        if rows:
            parts.append(_tasks(rows, name, ks))
    parts += [_compared(row) for row in beside.get("comparisons", ())]
    if beside.get("changes"):
        parts.append(_changes(beside["changes"]))
    priced = [row for row in beside.get("costs", ()) if row["cost"] is not None]
    if priced:
        parts.append(_costs(priced))
    return "\n".join(parts) + "\n</html>\n"


def _tasks(rows: Sequence[Row], name: str, ks: Sequence[int]) -> str:
    """A table of one basis; the chart is of the largest k."""
    most = str(ks[-1])
    title = "By outcome" if name == "pass^" else "By path (no outcome reported)"
    heads = [
        "task",
        "version",
        "trials",
        "n",
        "c",
        *(f"{label}{k}" for k in ks for label in ("pass@", name)),
        f"{name}{most}",
    ]
    body = []
    for row in rows:
        rates = [row[key][str(k)] for k in ks for key in ("pass_at_k", "pass_hat_k")]
        strip = "".join(SQUARES.get(one, "?") for one in row.get("recent", []))
        body.append(
            f"<tr><td>{_text(row['task_id'])}<td>{_text(row['task_version'])}<td class=strip>{strip}"
            + "".join(f"<td class=num>{_number(value)}" for value in (row["n"], row["c"], *rates))
            + f"<td>{bar(row['pass_hat_k'][most], row['low'][most], row['high'][most])}"
        )
    return _table(title, heads, body)


def bar(rate: float | None, low: float | None, high: float | None) -> str:
    """A rate from 0 to 1 as a bar, its interval as a line over it; what is not known is not drawn."""
    shapes = [f'<rect x="0" y="6" width="{BAR}" height="10" fill="#eceef0"/>']
    if rate is not None:
        shapes.append(f'<rect x="0" y="6" width="{rate * BAR:.1f}" height="10" fill="#3e7bfa"/>')
    if low is not None and high is not None:
        left, right = f"{low * BAR:.1f}", f"{high * BAR:.1f}"
        shapes.append(f'<path d="M{left} 11H{right}M{left} 4V18M{right} 4V18" stroke="#1c2024"/>')
    said = f"{_number(rate)} ({_number(low)} to {_number(high)})"
    return f'<svg role="img" width="{BAR + 2}" height="{ROW}"><title>{said}</title>{"".join(shapes)}</svg>'


def _compared(row: Row) -> str:
    body = [f"<tr><td>{_text(one['task_id'])}<td class=num>{_number(one['before'])}<td class=num>{_number(one['now'])}"
            f"<td>{_text(one['moved'])}" for one in row["tasks"]]  # fmt: skip
    ends = f"{_number(row['low'])} to {_number(row['high'])}"
    moved = f"{_number(row['difference'])} ({ends}) over {row['tasks_used']} tasks, {row['basis']}"
    title = f"Against {row['other']}: {moved}"
    return _table(title, ["task", "before", "now", "moved"], body)


def _changes(rows: Sequence[Row]) -> str:
    body = ["".join(("<tr>", *(f"<td>{_text(value)}" for value in changed(row)))) for row in rows]
    return _table("Rates that changed", CHANGED, body)


def _costs(rows: Sequence[Row]) -> str:
    names = ("trials", "passed", "cost", "cost_per_trial", "cost_per_success", "wasted_usd")
    body = [f"<tr><td>{_text(row['task_id'])}" + "".join(f"<td class=num>{_number(row[name])}" for name in names)
            for row in rows]  # fmt: skip
    return _table("Cost in USD", ["task", *names], body)


def _table(title: str, heads: Iterable[str], body: Iterable[str]) -> str:
    head = "".join(f"<th>{escape(name)}" for name in heads)
    return f"<table><caption>{escape(title)}</caption><tr>{head}\n" + "\n".join(body) + "</table>"


def _text(value: object) -> str:
    return escape(cell(value))


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return str(value) if isinstance(value, int) else f"{value:.4f}"
