"""`passhat regrade`: grade stored runs again by the checks in force; `passhat checks test`: what others would say."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from collector.cli.options import Filters, Source, Times, given
from collector.cli.out import cell, result, result_json, say, table
from collector.errors import UsageError

if TYPE_CHECKING:
    from collector.cli.client import Api

POLL_S = 0.5


def regrade(
    source: Source,
    times: Times,
    filters: Filters,
    task: Annotated[
        list[str] | None,
        typer.Option("--task", metavar="TASK", help="Only this task (repeatable).", show_default=False),
    ] = None,
    check: Annotated[
        str, typer.Option("--check", metavar="ID", help="Only runs this check has not judged.", show_default=False)
    ] = "",
    renormalise: Annotated[
        bool,
        typer.Option("--renormalise", help="Read all stored spans and logs again by the dialects in force first."),
    ] = False,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Stay until all are graded.")] = True,
) -> int:
    """Grade runs again that earlier checks graded. The old verdicts stay as history."""
    from collector.cli.client import api

    asked = {**times.params(), **filters.params(), **given({"task": task, "check": check})}
    if renormalise:
        if asked:
            raise UsageError("--renormalise reads everything that is stored", hint="leave out times and filters")
        return replay(source, wait=wait)
    with api(source) as ask:
        begun = ask.call("POST", "/api/v1/regrade", params=asked)
        left = _follow(ask, asked, begun) if wait and begun["runs"] and source.data is None else begun["runs"]
    done = begun["runs"] - left
    if source.json:
        result_json({"runs": begun["runs"], "graded": done, "left": left, "checks": begun["checks"]})
    else:
        result(f"{done} of {begun['runs']} runs graded by the checks in force")
        if left and wait and source.data is None:
            say(f"{left} stay as they are: their spans are no longer all there")
    return 0


def replay(source: Source, *, wait: bool) -> int:
    """Replay the dialects in force over the store, showing progress; what is interrupted goes on at the next call."""
    from rich.console import Console
    from rich.progress import Progress

    from collector.cli.client import api

    console = Console(stderr=True)
    with api(source) as ask, Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        told = ask.call("POST", "/api/v1/renormalise", params={"begin": True})
        task = bar.add_task("renormalise")
        while not told["finished"]:
            bar.update(task, total=told["seen"] + told["left"], completed=told["seen"])
            told = ask.call("POST", "/api/v1/renormalise")
        if wait and told["changed"] and source.data is None:
            _graded(ask, told["asked_ns"])
    if source.json:
        result_json({key: told[key] for key in ("seen", "changed", "generation")})
    else:
        result(f"{told['seen']} rows read again, {told['changed']} tell something else now")
    return 0


def _graded(ask: Api, asked_ns: int) -> None:
    """Wait until the runs of what has changed are judged again."""
    while True:
        lag = ask.get("/api/v1/status")["lag"]
        if lag["as_of_ns"] > asked_ns and lag["units_waiting"] == 0:
            return
        time.sleep(POLL_S)


def _follow(ask: Api, asked: dict[str, Any], begun: dict[str, Any]) -> int:
    """Show progress on stderr until nothing of it waits; how many are left."""
    from rich.console import Console
    from rich.progress import Progress

    total: int = begun["runs"]
    left = total
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("regrade", total=total)
        while left:
            lag = ask.get("/api/v1/status")["lag"]
            left = ask.get("/api/v1/regrade", asked)["runs"]
            bar.update(task, completed=total - left)
            if lag["as_of_ns"] > begun["asked_ns"] and lag["units_waiting"] == 0:
                break
            time.sleep(POLL_S)
    return left


def try_checks(
    source: Source,
    times: Times,
    filters: Filters,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="YAML with `checks` (and `tags`, `actions`).")],
    limit: Annotated[int, typer.Option("--limit", help="At most so many groups of runs, the newest.")] = 2000,
) -> int:
    """Say what the checks of FILE would have said of stored runs. Exit 1 when a trial's result would change."""
    from collector.cli.client import api
    from collector.rules import read_yaml

    read = read_yaml(file)
    body: dict[str, Any] = {key: read[key] for key in ("checks", "tags", "actions") if key in read}
    body["limit"] = limit
    with api(source) as ask:
        said = ask.call("POST", "/api/v1/checks/test", json=body, params={**times.params(), **filters.params()})
    if source.json:
        result_json(said)
    else:
        _print(said)
    return 1 if said["changes"] else 0


def _print(said: dict[str, Any]) -> None:
    statuses = ("pass", "fail", "unknown", "error", "not_applicable")
    rows = [[check["check_id"], *(check["counts"].get(status, 0) for status in statuses)] for check in said["checks"]]
    result(f"{said['runs']} runs")
    result(table(["check", *statuses], rows))
    for check in said["checks"]:
        for example in check["examples"]:
            lines = ", ".join(map(str, example["lines"]))
            where = f"{cell(example['run_id'])} [{lines}]"
            result(f"{cell(check['check_id'])}: {example['status']} {where} {cell(example['reason'])}")
    for change, count in sorted(said["changes"].items()):
        result(f"{count} trials {change}")
    for one in said["changed"]:
        result(f"  {cell(one['run_id'])} ({cell(one['task_id'])}): {one['before']} → {one['after']}")
