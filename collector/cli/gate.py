"""`passhat gate`: may this be merged? Exit 0 allows, 1 denies, 3 too little to say, 4 failure."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from collector.cli.gate_forms import explained, github, junit, summary
from collector.cli.options import Filters, Source, Texts, given
from collector.cli.out import result, result_json, say
from collector.errors import UsageError

Row = dict[str, Any]
EXITS = {"allow": 0, "deny": 1, "insufficient": 3}
PATH = "/api/v1/gate"


class Form(StrEnum):
    """How decisions are printed."""

    TEXT = "text"
    JUNIT = "junit"
    GITHUB = "github"


def gate(
    source: Source,
    filters: Filters,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A policy of `gates`.", show_default=False)] = "",
    task: Annotated[Texts, typer.Option("--task", metavar="TEXT", help="Of this task.", show_default=False)] = None,
    every: Annotated[bool, typer.Option("--all", help="Every policy of `gates`.")] = False,
    k: Annotated[int | None, typer.Option("--k", help="The k of pass^k [default: 3].", show_default=False)] = None,
    least: Annotated[
        float | None, typer.Option("--min", help="What pass^k must reach [default: 0.8].", show_default=False)
    ] = None,
    confidence: Annotated[
        float | None, typer.Option("--confidence", help="Of the interval [default: 0.95].", show_default=False)
    ] = None,
    window: Annotated[
        str | None,
        typer.Option("--window", metavar="DURATION", help="How far back [default: 28d].", show_default=False),
    ] = None,
    max_excluded: Annotated[
        float | None, typer.Option("--max-excluded", help="Share left out [default: 0.05].", show_default=False)
    ] = None,
    max_age: Annotated[
        str | None,
        typer.Option("--max-age", metavar="DURATION", help="Of the newest trial [default: 7d].", show_default=False),
    ] = None,
    at: Annotated[
        str | None, typer.Option("--at", metavar="TIME", help="Decide as of then.", show_default=False)
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say what the decision rests on.")] = False,
    form: Annotated[
        Form, typer.Option("--format", metavar="text|junit|github", help="JUnit XML, or GitHub annotations.")
    ] = Form.TEXT,
) -> None:
    """Decide whether reliability is shown to be good enough. Only exit 0 means merge.

    Of a policy by NAME, of a --task, of a --class, or of --all policies. 1: shown to be too low; 3: not shown either
    way, and how many passing trials are missing is said. Of several decisions the worst counts.
    """
    policy = given({"k": k, "min": least, "confidence": confidence, "window": window, "max_excluded": max_excluded,
                    "max_age": max_age})  # fmt: skip
    asked = {**filters.params(), **given({"at": at, "task": task})}
    answers = _answers(source, {**asked, **policy}, name, every)
    _print(source, answers, form, explain)
    worst = max((answer["decision"] for answer in answers), key=("allow", "insufficient", "deny").index)
    raise typer.Exit(EXITS[worst])


def _answers(source: Source, asked: Row, name: str, every: bool) -> list[Row]:
    """The decision of each policy meant. Raises UsageError when none is, or two are."""
    from collector.cli.client import api

    meant = [bool(name), every, "task" in asked or "class" in asked]
    if sum(meant) != 1:
        raise UsageError("name one gate: NAME, --task, --class or --all", hint="passhat gate --help")
    with api(source) as ask:
        if not every:
            return [ask.get(PATH, {**asked, **given({"name": name})})]
        names = [one["name"] for one in ask.get("/api/v1/gates")["gates"]]
        if not names:
            raise UsageError("there is no policy in `gates`", hint="docs/gate.md shows one")
        return [ask.get(PATH, {**asked, "name": one}) for one in names]


def _print(source: Source, answers: list[Row], form: Form, explain: bool) -> None:
    if source.json:
        result_json(answers[0] if len(answers) == 1 else {"gates": answers})
    elif form is Form.JUNIT:
        result(junit(answers))
    elif form is Form.GITHUB:
        result("\n".join(github(answers)))
    else:
        result("\n".join(summary(answer) for answer in answers))
    if explain:
        write = result if form is Form.TEXT and not source.json else say
        write("\n\n".join(explained(answer) for answer in answers))
