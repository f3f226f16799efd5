"""`passhat report`: pass@k and pass^k of each task, with the trials they come from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from collector.cli import report_beside
from collector.cli.options import Filters, Source, Texts, Times, given
from collector.cli.out import rate, result, result_json, say, strip, table
from collector.errors import UsageError

if TYPE_CHECKING:
    from collector.cli.client import Api

Row = dict[str, Any]
FORMS = ["fail", "error"]  # statuses of verdicts that JUnit and SARIF tell
PAGE = 1000
RECENT = 40  # squares in a strip: the latest trials
LEFT_OUT = ("errors", "invalid", "unknown", "incomplete")


def _written(flag: str, what: str) -> Any:
    return typer.Option(flag, metavar="FILE", help=what, dir_okay=False, show_default=False)


ERRORS = typer.Option("--errors", metavar="exclude|fail", help="What errored trials count as.", show_default=False)
INCOMPLETE = typer.Option(
    "--incomplete", metavar="exclude|fail", help="What trials without an end count as.", show_default=False
)
COMPARE = typer.Option("--compare", help="Against the window before, task by task; and when rates changed.")
AGAINST = typer.Option(
    "--against", metavar="NAME=VALUE", help="Against the same tasks of this model, agent, …", show_default=False
)


def report(
    source: Source,
    times: Times,
    filters: Filters,
    tasks: Annotated[Texts, typer.Argument(metavar="TASK", help="Only these tasks.", show_default=False)] = None,
    k: Annotated[str, typer.Option("--k", metavar="LIST", help="How many tries.")] = "1,3,5",
    errors: Annotated[str | None, ERRORS] = None,
    incomplete: Annotated[str | None, INCOMPLETE] = None,
    junit: Annotated[Path | None, _written("--junit", "Write every run as a JUnit test case.")] = None,
    sarif: Annotated[Path | None, _written("--sarif", "Write every failing check of a run as SARIF.")] = None,
    html: Annotated[Path | None, _written("--html", "Write the report as one HTML file with charts.")] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print comma-separated values.")] = False,
    compare: Annotated[bool, COMPARE] = False,
    against: Annotated[Texts, AGAINST] = None,
    cost: Annotated[bool, typer.Option("--cost", help="What trials cost, and what failures wasted.")] = False,
) -> None:
    """Print pass@k and pass^k per task over a window (default: 7d).

    pass@k: at least one of k tries passes. pass^k: all k pass. `-`: fewer than k trials. Trials are shown oldest
    first: P pass, . fail, E error, X invalid, ? unknown, - incomplete, ~ open (squares on a terminal). Where no outcome
    was reported a rate says how many runs were clean by their path, so it is called clean^k.
    """
    from collector.cli.client import api

    if as_csv and source.json:
        raise UsageError("--csv and --json are two forms of one result", hint="give one of them")
    meant = {**times.params(), **filters.params(), **given({"task": tasks})}
    asked = {**meant, **given({"k": k, "errors": errors, "incomplete": incomplete, "recent": RECENT})}
    with api(source) as ask:
        answer = ask.get("/api/v1/reliability", asked)
        same = same_window(meant, answer)
        if junit or sarif:
            write_forms(runs_of(ask, same), junit, sarif)
        sides = (against or []) if compare or against or html else None
        beside = report_beside.asked(ask, same, answer["k"][-1], sides, cost or bool(html))
    if html:
        report_beside.write_html(html, answer, beside)
    if as_csv:
        result(report_beside.csv_of(answer))
    else:
        show(answer, beside, source, against)


def same_window(meant: Row, answer: Row) -> Row:
    """The same question for what is told beside, of the same window: "7d" would end a little later each time."""
    kept = {key: value for key, value in meant.items() if key not in ("window", "since", "until")}
    return {**kept, "since": answer["window"]["start"], "until": answer["window"]["end"]}


def show(answer: Row, beside: dict[str, list[Row]], source: Source, against: Texts = None) -> None:
    """The report as JSON or as tables."""
    if source.json:
        result_json({**answer, **beside})
    elif answer["tasks"]:
        result("\n\n".join([*sections(answer), *report_beside.tables(beside, answer["k"][-1], against)]))
    else:
        say("no trials in this window")


def runs_of(ask: Api, asked: Row) -> list[Row]:
    """Every run of the window, oldest first, with its failing and broken checks."""
    found: list[Row] = []
    cursor: str | None = ""
    while cursor is not None:
        page = ask.get("/api/v1/verdicts", {**asked, **given({"cursor": cursor}), "status": FORMS, "limit": PAGE})
        found += page["runs"]
        cursor = page["next"]
    return found[::-1]


def write_forms(runs: Sequence[Row], junit: Path | None, sarif: Path | None) -> None:
    """The files asked for. Raises UsageError where one cannot be written."""
    from collector.cli import report_forms

    for file, form in ((junit, report_forms.junit), (sarif, report_forms.sarif)):
        if file is None:
            continue
        try:
            file.write_text(form(runs), "utf-8")
        except OSError as error:
            raise UsageError(f"{file}: {error.strerror}") from None


def sections(answer: Row) -> Iterable[str]:
    """A table for each kind of number: bases and estimands are never mixed in one."""
    ks = list(answer["tasks"][0]["pass_hat_k"])
    named = [row for row in answer["tasks"] if row["task_source"] != "fallback"]
    for basis, rows in by_basis(named):
        yield task_table(rows, ks, basis) + suite_line(answer["suite"], ks, basis)
    streams = [row for row in answer["tasks"] if row["task_source"] == "fallback"]
    for basis, rows in by_basis(streams):
        yield stream_table(rows, ks, basis)


def by_basis(rows: Sequence[Row]) -> Iterable[tuple[str, list[Row]]]:
    """The rows of each basis that has any."""
    for basis in ("outcome", "trajectory"):
        of_it = [row for row in rows if row["basis"] == basis]
        if of_it:
            yield basis, of_it


def task_table(rows: Sequence[Row], ks: Sequence[str], basis: str) -> str:
    """One row per task version and checks version."""
    rates = [f"{name}{k}" for k in ks for name in ("pass@", hat(basis))]
    columns = ("task", *version_columns(rows), "trials", "n", "c", *rates, *left_out_columns(rows), "flag")
    made = [
        (
            row["task_id"],
            *(row[column] for column in version_columns(rows)),
            strip(row["recent"]),
            row["n"],
            row["c"],
            *(rate(row[name][k]) for k in ks for name in ("pass_at_k", "pass_hat_k")),
            *(row[column] for column in left_out_columns(rows)),
            row["flag"],
        )
        for row in rows
    ]
    title = "" if basis == "outcome" else "no outcome reported: how many runs were clean by their path\n"
    return title + table(columns, made, right=("n", "c", *rates, *LEFT_OUT)).rstrip()


def stream_table(rows: Sequence[Row], ks: Sequence[str], basis: str) -> str:
    """Runs of tasks nobody named: different requests, so "any of k" would mean nothing."""
    lines = ["streams (no task was named): the chance that k different requests all go well"]
    rates = [f"{hat(basis)}{k}" for k in ks]
    apart, beside = version_columns(rows), left_out_columns(rows)
    columns = ("stream", *apart, "runs", "n", "c", *rates, *beside)
    made = [
        (
            row["task_id"],
            *(row[column] for column in apart),
            strip(row["recent"]),
            row["n"],
            row["c"],
            *(rate(row["pass_hat_k"][k]) for k in ks),
            *(row[column] for column in beside),
        )
        for row in rows
    ]
    lines.append(table(columns, made, right=("n", "c", *rates, *LEFT_OUT)).rstrip())
    return "\n".join(lines)


def suite_line(suites: Row, ks: Sequence[str], basis: str) -> str:
    """The mean over tasks, with how many of them had enough trials."""
    if suites["basis"] != basis or not suites["tasks"]:
        return ""
    rows = [
        (
            k,
            rate(suites["pass_at_k"][k]),
            rate(suites["pass_hat_k"][k]),
            f"{suites['tasks_used_k'][k]}/{suites['tasks']}",
        )
        for k in ks
    ]
    columns = ("k", "pass@k", f"{hat(basis)}k", "tasks")
    selected = "\nselected: fewer than 80 % of the tasks have that many trials" if suites["flag"] else ""
    return "\n\n" + table(columns, rows, right=columns).rstrip() + selected


def hat(basis: str) -> str:
    return "pass^" if basis == "outcome" else "clean^"


def version_columns(rows: Sequence[Row]) -> list[str]:
    """Projects and versions are shown where they tell rows apart."""
    return [name for name in ("project", "task_version", "checks_version") if len({row[name] for row in rows}) > 1]


def left_out_columns(rows: Sequence[Row]) -> list[str]:
    return [name for name in LEFT_OUT if any(row[name] for row in rows)]
