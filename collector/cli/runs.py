"""`passhat runs` and `passhat show`: which runs there are, and one of them line by line."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from collector.cli.options import Filters, Source, Texts, Times, given
from collector.cli.out import MAX_CELL, cell, local_time, result, result_json, say, table

Run = dict[str, Any]
UNPROVEN = " (a model says so; how often it is right is not known)"
MARKS = {"pass": "ok", "fail": "FAIL", "error": "ERROR", "unknown": "?", "not_applicable": "-", "pending": "~"}
INDENT = 2


def runs(
    source: Source,
    times: Times,
    filters: Filters,
    task: Annotated[
        Texts, typer.Option("--task", metavar="TEXT", help="Only this task (repeatable).", show_default=False)
    ] = None,
    status: Annotated[
        Texts,
        typer.Option("--result", metavar="TEXT", help="Only runs with this result (repeatable).", show_default=False),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="At most so many.", min=1, max=1000)] = 50,
    cursor: Annotated[
        str, typer.Option("--cursor", metavar="TEXT", help="Go on where the last page ended.", show_default=False)
    ] = "",
) -> None:
    """List runs, newest first."""
    from collector.cli.arrivals import notes
    from collector.cli.client import api

    asked = {**times.params(), **filters.params(), **given({"task": task, "result": status, "cursor": cursor})}
    with api(source) as ask:
        page = ask.get("/api/v1/runs", {**asked, "limit": limit})
        told = {} if page["runs"] or asked else ask.get("/api/v1/status")
    if source.json:
        result_json(page)
        return
    rows = [
        (row["run_id"], row["task_id"], row["result"], row["reason"], local_time(row["ended"]), row["tool_calls"])
        for row in page["runs"]
    ]
    if not rows:
        say("no runs match")
        for what, found, hint in notes(told):
            say(cell(f"{what}: {found}" + (f" - {hint}" if hint else ""), 1000))
        return
    result(table(("run", "task", "result", "reason", "ended", "calls"), rows, right=("calls",)))
    if page["next"]:
        say(f"there are more: --cursor {page['next']}")


def show(
    source: Source,
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run id, or the beginning of one.")],
    project: Annotated[
        Texts,
        typer.Option(
            "--project", metavar="TEXT", help="The run's project, where two have this id.", show_default=False
        ),
    ] = None,
) -> None:
    """Show one run: its lines, its verdicts with the lines they rest on, its outcomes."""
    from collector.cli.client import api, run_told

    with api(source) as ask:
        told = run_told(ask, run, given({"project": project}))
    if source.json:
        result_json(told)
        return
    result("\n\n".join(part for part in (head(told["run"]), ledger(told["lines"]), judged(told), said(told)) if part))


def head(run: Run) -> str:
    """Who, what, how it ended."""
    reason = f" ({run['reason']})" if run["reason"] else ""
    took = "" if run.get("duration_s") is None else f", {run['duration_s']:.1f} s"
    version = f" version {run['task_version']}" if run["task_version"] else ""
    lines = [
        f"run {run['run_id']}: {run['result']}{reason}",
        f"task {run['task_id']}{version}, {basis_name(run['basis'])}",
        f"{run['tool_calls']} calls, {run['turns']} turns{took}, ended {local_time(run['ended'])}",
    ]
    return "\n".join(cell(line, 1000) for line in lines)


def basis_name(basis: str) -> str:
    return "outcome reported" if basis == "outcome" else "no outcome reported: judged by its path"


def ledger(lines: list[Run]) -> str:
    """The trace lines, one numbered row each."""
    width = len(str(lines[-1]["n"])) if lines else 1
    return "\n".join(f"{line['n']:>{width}} {line['role']:<9} {cell(content(line))}" for line in lines)


def content(line: Run) -> str:
    """What happened on a line, on one line; the depth of a nested agent is its indent."""
    indent = " " * INDENT * int(line.get("depth") or 0)
    mark = f" !{line.get('error') or 'error'}" if line.get("status") == "error" else ""
    if line["role"] == "assistant" and line.get("tool"):
        return f"{indent}{line['tool']} {compact(line.get('input'))}{mark}"
    if line["role"] == "tool":
        return f"{indent}{line.get('tool', '')} → {compact(line.get('output'))}{mark}"
    if line["role"] == "result":
        turns = f", {line['num_turns']} turns" if line.get("num_turns") is not None else ""
        return f"{line.get('subtype', '')}{turns}{mark}"
    return f"{indent}{line.get('text', '')}{mark}"


def compact(value: object) -> str:
    """A JSON value as one short text, strings bare."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_CELL else text[: MAX_CELL - 1] + "…"


def judged(told: Run) -> str:
    """The verdicts, the failed ones first."""
    order = ("fail", "error", "unknown", "pending", "pass", "not_applicable")
    rows = [
        (MARKS[verdict["status"]], verdict["check_id"], "gate" if verdict["gate"] else "", list(verdict["lines"]) or "",
         because(verdict) + (UNPROVEN if verdict.get("calibration") == "unknown" else ""))
        for verdict in sorted(told["verdicts"], key=lambda v: (order.index(v["status"]), v["check_id"]))
    ]  # fmt: skip
    return table(("", "check", "", "lines", "reason"), rows).rstrip() if rows else "no checks looked at this run"


def because(verdict: Run) -> str:
    """The reason, and of a failed check what to do about it."""
    fix = verdict.get("fix") if verdict["status"] == "fail" else ""
    return f"{verdict['reason']} {fix}" if fix else str(verdict["reason"])


def said(told: Run) -> str:
    """The outcomes, newest last."""
    rows = [(o["result"], o["source"], local_time(o["time"]), o["reason"]) for o in told["outcomes"]]
    return table(("outcome", "source", "time", "reason"), rows).rstrip() if rows else ""
