"""What a report tells beside its rates: the window before, cost; and its other forms, CSV and HTML."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collector.cli.out import cell, rate, say, table
from collector.errors import UsageError

if TYPE_CHECKING:
    from collector.cli.client import Api

Row = dict[str, Any]
COSTS = ("trials", "passed", "cost", "cost_per_trial", "cost_per_success", "wasted_usd")


def asked(ask: Api, meant: Row, k: int, compare: bool, cost: bool) -> dict[str, list[Row]]:
    """`comparisons` (for this k) and `costs`, of those that are wanted."""
    found: dict[str, list[Row]] = {}
    if compare:
        found["comparisons"] = ask.get("/api/v1/comparison", {**meant, "k": k})["comparisons"]
    if cost:
        found["costs"] = ask.get("/api/v1/cost", meant)["tasks"]
    return found


def tables(beside: dict[str, list[Row]]) -> Iterable[str]:
    """The same for people."""
    for row in beside.get("comparisons", ()):
        ends = f"{rate(row['low'])} to {rate(row['high'])}"
        moved = f"{row['difference']:+.4f} ({ends}) over {row['tasks_used']} tasks"
        rows = [(one["task_id"], rate(one["before"]), rate(one["now"])) for one in row["tasks"]]
        shown = table(("task", "before", "now"), rows, right=("before", "now")).rstrip()
        yield f"against the window before, by {row['basis']}: {moved}\n{shown}"
    if "costs" in beside:
        costs = [(row["task_id"], *(_figure(row[name]) for name in COSTS)) for row in beside["costs"]]
        yield "cost in USD\n" + table(("task", *COSTS), costs, right=COSTS).rstrip()


def csv_of(answer: Row) -> str:
    """The rates as comma-separated values."""
    from collector.cli.report_pages import as_csv

    return as_csv(answer)


def write_html(file: Path, answer: Row, beside: dict[str, list[Row]]) -> None:
    """The report as a page of its own. Raises UsageError where it cannot be written."""
    from collector.cli.report_pages import as_html

    try:
        file.write_text(as_html(answer, beside.get("comparisons", []), beside.get("costs", [])), "utf-8")
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from None
    say(f"wrote {file}")


def _figure(value: float | None) -> str:
    return rate(value) if value is None or isinstance(value, float) else cell(value)
