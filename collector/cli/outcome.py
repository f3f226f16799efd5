"""`passhat outcome`: say what is known of a run's end state."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from collector.cli.options import Source, given
from collector.cli.out import cell, result, result_json, say

if TYPE_CHECKING:
    from collector.cli.client import Api


class Result(StrEnum):
    """What an outcome can be."""

    PASS = "pass"
    FAIL = "fail"
    ERROR = "error"
    INVALID = "invalid"


class Said(StrEnum):
    """Who says so."""

    HUMAN = "human"
    ENVIRONMENT = "environment"
    HARNESS = "harness"
    JUDGE = "judge"


def outcome(
    source: Source,
    run: Annotated[str, typer.Argument(metavar="RUN")],
    verdict: Annotated[Result, typer.Argument(metavar="pass|fail|error|invalid")],
    by: Annotated[
        Said, typer.Option("--source", metavar="human|environment|harness|judge", help="Who says so.")
    ] = Said.HUMAN,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why.", show_default=False)] = "",
    project: Annotated[
        str, typer.Option("--project", metavar="TEXT", help="The run's project.", show_default=False)
    ] = "",
) -> None:
    """Report the outcome of a run; it may come before the run does."""
    from collector.cli.client import api

    statement = given(
        {"run_id": run, "result": verdict.value, "source": by.value, "reason": reason, "project": project}
    )
    with api(source) as ask:
        first = first_of_task(ask, run, project) if verdict in (Result.PASS, Result.FAIL) else ""
        answer = ask.post("/api/v1/outcomes", statement)
    if first:
        say(f"task {cell(first)} is judged by outcomes from now on: its runs without one count as unknown")
    if source.json:
        result_json(answer)
        return
    known = answer["outcomes"][0]["known"]
    result(f"{cell(run)}: {verdict.value}" + ("" if known else " (the run is not known yet; kept until it is)"))


def first_of_task(ask: Api, run: str, project: str) -> str:
    """The task that has no outcome before this one; '' where it has, or where the run is not known or not readable."""
    from collector.cli.client import run_path
    from collector.errors import OperatorError

    try:
        told = ask.get(run_path(run), given({"project": project}))
    except OperatorError:
        return ""
    first = told["run"]["basis"] == "trajectory" and not told["outcomes"]  # one that was just said moved no basis yet
    return str(told["run"]["task_id"]) if first else ""
