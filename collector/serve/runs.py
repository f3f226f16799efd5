"""`GET /api/v1/runs` and `GET /api/v1/runs/{run_id}`."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
import orjson
from fastapi import APIRouter, Query, Request
from starlette.convertors import Convertor, register_url_convertor

from collector.serve.access import need
from collector.serve.judges import marked
from collector.serve.parameters import Filters, RunsQuery, VerdictsQuery
from collector.serve.problems import WHICH_PROJECT, FieldError, Refused, listed
from collector.serve.sql import Row, read
from collector.serve.strict import StrictJSON
from collector.serve.times import LAST_MS, rfc3339, rfc3339_ms, window_of
from collector.store.otlp_json import of_key_values
from collector.store.store import Store
from collector.tokens import Grant

router = APIRouter()

# What the API tells of a run, in this order; both calls tell the same.
RUN_KEYS = (
    "run_id", "project", "trial_id", "task_id", "task_version", "task_class", "task_source", "result", "reason",
    "basis", "outcome", "trajectory", "calls", "started", "ended", "duration_s", "tool_calls", "turns",
    "input_tokens", "output_tokens", "cost_usd", "environment", "service", "service_version", "agent", "model",
    "checks_version",
)  # fmt: skip
DETAIL_KEYS = (
    "expected", "retry_of", "workspace_id", "experiment_id", "closed_by", "root_status", "root_error",
    "root_error_type", "final_text", "subtype", "trace_ids", "span_count", "lossy", "flags", "attributes", "revision",
    "graded_at",
)  # fmt: skip
VERDICT_KEYS = ("id", "kind", "axis", "gate", "severity", "on_fail", "version", "status", "reason", "fix", "lines")
LINE_JSON_KEYS = ("input", "output")
EVERY_TIME = "56y"  # the longest window: back to the epoch


class AnyText(Convertor[str]):
    """The rest of a path, line breaks included: the stock `path` convertor stops at one."""

    regex = r"[\s\S]+"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("any", AnyText())


@router.get("/api/v1/runs", summary="Runs, newest first")
def runs(request: Request, query: Annotated[RunsQuery, Query()]) -> StrictJSON:
    """Runs whose end lies in the window (default: all), newest first; `next` is the cursor of the next page."""
    grant: Grant = request.state.grant
    need(grant, "read")
    page, following = page_of(request.app.state.store, query, grant)
    return StrictJSON({"runs": [run_of(row, RUN_KEYS) for row in page], "next": following})


@router.get("/api/v1/verdicts", summary="Runs with their verdicts, newest first")
def verdicts(request: Request, query: Annotated[VerdictsQuery, Query()]) -> StrictJSON:
    """The runs of `/api/v1/runs`, each with those of its current verdicts whose status is asked for (default: all)."""
    grant: Grant = request.state.grant
    need(grant, "read")
    store: Store = request.app.state.store
    page, following = page_of(store, query, grant)
    keys = [(row["project"], row["run_id"]) for row in page]
    said = {(row["project"], row["run_id"]): row for row in read(store, "verdicts_of_runs", {"keys": keys})}
    # The result of the same revision as the verdicts: a run graded meanwhile must not pass with failing checks.
    told = [
        run_of(row | said[key], RUN_KEYS)
        | {"verdicts": [one for one in verdicts_of(said[key]) if one["status"] in query.status]}
        for key, row in zip(keys, page, strict=True)
        if key in said
    ]
    return StrictJSON({"runs": told, "next": following})


def page_of(store: Store, query: RunsQuery, grant: Grant) -> tuple[list[Row], str | None]:
    """Rows of a page and the cursor of the next. Raises Refused."""
    bound = query.bound(grant)
    everything = not (query.window or query.since or query.until)
    window = None if everything else window_of(query.asked(), store.now_ns() // 1_000_000, default=EVERY_TIME)
    after = position_of(query.cursor)
    rows = read(
        store,
        "runs",
        {
            **bound,
            "result": list(query.result),
            "prefix": query.prefix,
            "start_ms": window.start_ms if window else 0,
            "end_ms": window.end_ms if window else LAST_MS,
            "before_ms": after[0],
            "before_project": after[1],
            "before_run_id": after[2],
            "limit": query.limit + 1,
        },
    )
    page, more = rows[: query.limit], len(rows) > query.limit
    return page, cursor_of(page[-1]) if more else None


@router.get("/api/v1/runs/{run_id:any}", summary="One run: lines, verdicts, outcomes")
def run(request: Request, run_id: str, query: Annotated[Filters, Query()]) -> StrictJSON:
    """The run, its numbered trace lines, its current verdicts and every outcome said of it."""
    grant: Grant = request.state.grant
    need(grant, "read")
    return StrictJSON(told_of(request.app.state.store, run_id, query.bound(grant)))


def told_of(store: Store, run_id: str, bound: Mapping[str, Any]) -> Row:
    """Everything about a run. Raises Refused: 404 unknown, 409 when two projects have a run of this id."""
    found = [row for row in read(store, "run", {"run_id": run_id, "project": bound["project"]}) if matches(row, bound)]
    if not found:
        raise Refused(404, "no run of this id is known", FieldError("run_id", "unknown"))
    if len(found) > 1:
        names = listed([row["project"] for row in found])
        at_fault = FieldError("?project", "say which")
        raise Refused(409, f"several projects have a run of this id: {names}", at_fault, hint=WHICH_PROJECT)
    [row] = found
    key = {"project": row["project"], "run_id": run_id}
    lines = read(store, "run_lines", {**key, "version": row["version"], "line_count": row["line_count"]})
    outcomes = read(store, "run_outcomes", key)
    row["attributes"] = of_key_values(msgspec.json.decode(row["attributes"] or "[]"))
    return {
        "run": run_of(row, (*RUN_KEYS, *DETAIL_KEYS)),
        "lines": [line_of(line, run_id) for line in lines],
        "verdicts": marked(store, row["project"], verdicts_of(row)),
        "outcomes": [{**outcome, "time": rfc3339(outcome.pop("time_ns"))} for outcome in outcomes],
    }


def matches(row: Row, bound: Mapping[str, Any]) -> bool:
    """Whether the run is one the filters let through."""
    columns = {"task": "task_id", "class": "task_class", "version": "task_version"}
    return all(not values or row[columns.get(name, name)] in values for name, values in bound.items())


def run_of(row: Row, keys: tuple[str, ...]) -> Row:
    """A run as the API tells it: times in RFC 3339, the rest as stored."""
    times = {"started": rfc3339_ms(row["started_ms"]), "ended": rfc3339_ms(row["ended_ms"])}
    return {key: times[key] if key in times else row[key] for key in keys}


def line_of(row: Row, run_id: str) -> Row:
    """A trace line: empty keys absent (0 is not empty), JSON values opened.

    An absent `output` was not captured; '' is an answer.
    """
    line: Row = {}
    for key, value in row.items():
        if key in LINE_JSON_KEYS:
            if value:
                line[key] = msgspec.json.decode(value)
        elif key in ("start_ns", "end_ns"):
            if value:
                line[key.removesuffix("_ns")] = rfc3339(value)
        elif value not in ("", None, [], ()):
            line[key] = value
    if line.get("attempts") == 1:
        del line["attempts"]
    line["run_id"] = run_id
    return line


def verdicts_of(row: Row) -> list[Row]:
    """The verdicts of the run's revision, from the arrays of its row."""
    columns = (row[f"check_{name}"] for name in VERDICT_KEYS)
    names = ("check_id", *VERDICT_KEYS[1:6], "check_version", *VERDICT_KEYS[7:])
    times = {"revision": row["revision"], "graded_at": row["graded_at"]}
    return [dict(zip(names, values, strict=True)) | times for values in zip(*columns, strict=True)]


def cursor_of(row: Row) -> str:
    """Where a page ended, opaque."""
    return base64.urlsafe_b64encode(orjson.dumps([row["ended_ms"], row["project"], row["run_id"]])).decode().rstrip("=")


def position_of(cursor: str) -> tuple[int, str, str]:
    """What `cursor_of` wrote; the very start for ''. Raises Refused when it is not ours."""
    if not cursor:
        return LAST_MS, "\U0010ffff", ""
    try:
        value = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        ended, project, run_id = value
    except (binascii.Error, ValueError, TypeError):
        ended = project = run_id = None
    if isinstance(ended, int) and 0 <= ended <= LAST_MS and isinstance(project, str) and isinstance(run_id, str):
        return ended, project, run_id
    raise Refused(400, "the cursor is not one this server gave", FieldError("?cursor", "take it from `next`"))
