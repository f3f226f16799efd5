"""What a report tells beside its rates: the window before, cost; and its other forms, CSV and HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collector.cli.out import cell, rate, say, table
from collector.errors import UsageError

if TYPE_CHECKING:
    from collector.cli.client import Api

Row = dict[str, Any]
CHANGED = ("task", "change", "on", "passed before", "passed since")
WINDOW_BEFORE = "the window before"
COSTS = ("trials", "passed", "cost", "cost_per_trial", "cost_per_success", "wasted_usd")


def asked(ask: Api, meant: Row, k: int, against: Sequence[str] | None, cost: bool) -> dict[str, list[Row]]:
    """`comparisons` (for this k) with `changes`, and `costs`, of those that are wanted.

    against: None for no comparison, nothing for the window before, else the filters of the other side.
    """
    found: dict[str, list[Row]] = {}
    if against is not None:
        other = {"against": list(against)} if against else {}
        rows = ask.get("/api/v1/comparison", {**meant, **other, "k": k})["comparisons"]
        found["comparisons"] = [{**row, "other": " ".join(against) or WINDOW_BEFORE} for row in rows]
        found["changes"] = ask.get("/api/v1/changes", meant)["changes"]
    if cost:
        found["costs"] = ask.get("/api/v1/cost", meant)["tasks"]
    return found


def tables(beside: dict[str, list[Row]], k: int, against: Sequence[str] | None = None) -> Iterable[str]:
    """The same for people, and that nothing could be compared."""
    other = " ".join(against or ()) or WINDOW_BEFORE
    for row in beside.get("comparisons", ()):
        ends = f"{rate(row['low'])} to {rate(row['high'])}"
        moved = f"{row['difference']:+.4f} ({ends}) over {row['tasks_used']} tasks"
        rows = [(one["task_id"], rate(one["before"]), rate(one["now"]), one["moved"]) for one in row["tasks"]]
        shown = table(("task", "before", "now", "moved"), rows, right=("before", "now")).rstrip()
        yield f"against {row['other']}, by {row['basis']}: {moved}\n{shown}"
    if "comparisons" in beside and not beside["comparisons"]:
        yield f"against {other}: no task has {k} trials on both sides (--k 1 compares with fewer)"
    if beside.get("changes"):
        yield "rates that changed\n" + table(CHANGED, [changed(row) for row in beside["changes"]]).rstrip()
    if "costs" in beside:
        costs = [(row["task_id"], *(_figure(row[name]) for name in COSTS)) for row in beside["costs"]]
        yield "cost in USD\n" + table(("task", *COSTS), costs, right=COSTS).rstrip()


def changed(row: Row) -> tuple[str, ...]:
    """A change of a task's rate, in the columns of `CHANGED`."""
    before, after = (f"{row[f'c_{part}']:g} of {row[f'n_{part}']:g}" for part in ("before", "after"))
    return row["task_id"], row["change"], row["changed_on"], before, after


def csv_of(answer: Row) -> str:
    """The rates as comma-separated values."""
    from collector.cli.report_pages import as_csv

    return as_csv(answer)


def write_html(file: Path, answer: Row, beside: dict[str, list[Row]]) -> None:
    """The report as a page of its own. Raises UsageError where it cannot be written."""
    from collector.cli.report_pages import as_html

    try:
        file.write_text(as_html(answer, beside), "utf-8")
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from None
    say(f"wrote {file}")


def _figure(value: float | None) -> str:
    return rate(value) if value is None or isinstance(value, float) else cell(value)
