"""`passhat delete`: remove a run for good."""

from __future__ import annotations

import sys
import time
from typing import Annotated

import typer

from collector.cli.options import Source
from collector.cli.out import cell, result, result_json, say

PATIENCE_S = 60.0
POLL_S = 0.25


def delete(
    source: Source,
    run: Annotated[str, typer.Argument(metavar="RUN")],
    project: Annotated[str, typer.Option("--project", help="The run's project.", show_default=False)] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> int:
    """Remove a run with its spans, lines, verdicts and outcomes; later spans of it are refused. Cannot be undone."""
    from collector.cli import INTERRUPTED
    from collector.cli.client import api, run_path
    from collector.errors import UsageError

    if not yes:
        if not sys.stdin.isatty():
            raise UsageError("this removes the run for good", hint="say --yes")
        if not typer.confirm(f"Remove {cell(run)} for good?", err=True):
            say("not removed")
            return INTERRUPTED
    with api(source) as ask:
        params = {"project": project} if project else None
        answer = ask.call("DELETE", run_path(run), params=params)
        deadline = time.monotonic() + PATIENCE_S
        while answer["state"] not in ("swept", "removed") and time.monotonic() < deadline:
            time.sleep(POLL_S)
            answer = ask.call("DELETE", run_path(run), params=params)
    if source.json:
        result_json(answer)
        return 0
    result(f"{cell(run)}: {answer['state']} (spans and log records: {answer['records']})")
    if answer["state"] != "removed":
        say(f"it is in no view any more; what is left of it goes by itself: {answer['progress']}")
    return 0
