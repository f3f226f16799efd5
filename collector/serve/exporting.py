"""`GET /api/v1/export`: runs as lines of JSON - trace lines, OTLP that can be posted back, conversations to replay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import orjson
from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from collector.serve.access import need
from collector.serve.exported_run import first_line, of_project, outcome_requests
from collector.serve.parameters import RunsQuery
from collector.serve.prefixes import prefixes_of
from collector.serve.problems import Refused
from collector.serve.runs import EVERY_TIME, cursor_of, position_of, told_of
from collector.serve.sql import Row, read
from collector.serve.times import LAST_MS, window_of
from collector.store.otlp_of_rows import logs_of, traces_of
from collector.store.store import Store

router = APIRouter()

NEXT = "X-Passhat-Next"  # the cursor of the next page; absent on the last
PAGE = 20  # runs of one answer: a run may have 100,000 lines
Form = Literal["lines", "otlp", "prefixes"]
# The lesson's TraceLine first, in its own order, then what stands beside it.
ORDER = (
    "n", "role", "tool", "input", "output", "text", "message_id", "subtype", "cost_usd", "num_turns", "run_id",
    "call_id", "agent", "depth", "status", "error", "start", "end", "input_state", "model", "input_tokens",
    "output_tokens", "dialect", "trace_id", "span_id", "flags", "tool_raw", "server", "actions", "attempts",
)  # fmt: skip


class ExportQuery(RunsQuery):
    """Which runs: every filter of the reading calls, and runs by name."""

    form: Form = "lines"
    run: Annotated[list[str], Field(default_factory=list)]


@router.get("/api/v1/export", summary="Runs as lines of JSON")
def export(request: Request, query: Annotated[ExportQuery, Query()]) -> Response:
    """A page of runs, newest first, as `application/x-ndjson`; the header X-Passhat-Next has the next page's cursor.

    `lines`: one trace line a line, keys in a fixed order: the same runs give the same bytes; a run's first line says
    whose it is, and its outcomes. `otlp`: export requests as they can be posted to /v1/traces and /v1/logs, outcomes of
    the API among them. `prefixes`: the conversation before each turn of the agent.
    """
    need(request.state.grant, "read")
    store: Store = request.app.state.store
    bound = query.bound(request.state.grant)
    if query.run:
        rows, following = _named(store, query.run, bound), ""
    else:
        rows, following = _page(store, query, bound)
    body = b"".join(orjson.dumps(one, option=orjson.OPT_APPEND_NEWLINE) for one in _told(store, query.form, rows))
    headers = {NEXT: following} if following else {}
    return Response(body, media_type="application/x-ndjson", headers=headers)


def _named(store: Store, runs: list[str], bound: Mapping[str, Any]) -> list[Row]:
    """Project and id of the runs asked for. Raises Refused."""
    return [told_of(store, run_id, bound)["run"] for run_id in dict.fromkeys(runs)]


def _page(store: Store, query: ExportQuery, bound: Mapping[str, Any]) -> tuple[list[Row], str]:
    everything = not (query.window or query.since or query.until)
    window = None if everything else window_of(query.asked(), store.now_ns() // 1_000_000, default=EVERY_TIME)
    ended, project, run_id = position_of(query.cursor)
    size = min(query.limit, PAGE)
    rows = read(
        store,
        "runs",
        {
            **bound,
            "result": list(query.result),
            "prefix": query.prefix,
            "start_ms": window.start_ms if window else 0,
            "end_ms": window.end_ms if window else LAST_MS,
            "before_ms": ended,
            "before_project": project,
            "before_run_id": run_id,
            "limit": size + 1,
        },
    )
    return rows[:size], cursor_of(rows[size - 1]) if len(rows) > size else ""


def _told(store: Store, form: Form, runs: list[Row]) -> Iterator[Row]:
    if form == "otlp":
        yield from _otlp(store, runs)
        return
    for run in runs:
        try:
            told = told_of(store, run["run_id"], {"project": [run["project"]]})
        except Refused:  # withdrawn meanwhile
            continue
        lines = told["lines"]
        if form == "lines":
            beside = first_line(told)
            for line in lines:
                yield {key: line[key] for key in ORDER if key in line} | beside
                beside = {}
        else:
            named = {key: run[key] for key in ("run_id", "project", "task_id", "trial_id")}
            yield from ({**named, **prefix} for prefix in prefixes_of(lines))


def _otlp(store: Store, runs: list[Row]) -> Iterator[Row]:
    """The spans and logs of all units of the runs, each once: several runs may share a trace."""
    units = store.replays.units_of((run["project"], run["run_id"]) for run in runs)
    for unit in units:
        spans, logs = store.replays.newest("spans", [unit]), store.replays.newest("logs", [unit])
        if spans:
            yield of_project(traces_of(spans), unit[0])
        if logs:
            yield of_project(logs_of(logs), unit[0])
    yield from outcome_requests(store, runs)
