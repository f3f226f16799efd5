"""`passhat freeze`: results that must not move any more, and results that may again."""

from __future__ import annotations

from typing import Annotated

import typer

from collector.cli.options import Source, given
from collector.cli.out import cell, result, result_json


def freeze(
    source: Source,
    runs: Annotated[list[str], typer.Argument(metavar="RUN…")],
    off: Annotated[
        bool, typer.Option("--off", help="Let them go: they are judged again by what is known now.")
    ] = False,
    project: Annotated[
        str, typer.Option("--project", metavar="TEXT", help="The runs' project.", show_default=False)
    ] = "",
) -> None:
    """Freeze runs: what arrives later is kept, but their results do not move."""
    from collector.cli.client import api

    with api(source) as ask:
        answer = ask.post("/api/v1/freeze", {**given({"project": project}), "runs": runs, "frozen": not off})
    if source.json:
        result_json(answer)
        return
    for run in dict.fromkeys(runs):
        result(f"{cell(run)}: {'let go' if off else 'frozen'}")
