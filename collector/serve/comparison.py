"""`GET /api/v1/comparison`: this window against the one before, or one model, agent or version against another.

Beside it, `GET /api/v1/changes`: when rates changed; and `GET /api/v1/cost`: what trials cost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import Field

from collector.serve.access import need
from collector.serve.parameters import MAX_K, Filters
from collector.serve.problems import FieldError, Refused
from collector.serve.rates import TASKS, filtered, over_counts
from collector.serve.reliability import bounds_of
from collector.serve.sql import read, statement
from collector.serve.strict import StrictJSON
from collector.serve.times import Asked, Window, rfc3339_ms, window_of
from collector.store.store import Store
from collector.tokens import Grant

router = APIRouter()

SIDES = ("environment", "service", "service_version", "agent", "model")  # what two sides may differ by
COMPARED = ("task_id", "before", "now", "moved", "before_n", "before_c", "now_n", "now_c")


class WindowQuery(Filters):
    """A window, and the filters of the reading calls."""

    window: str = ""
    since: str = ""
    until: str = ""
    at: str = ""

    def asked(self) -> Asked:
        return Asked(window=self.window, since=self.since, until=self.until, at=self.at)


class ComparisonQuery(WindowQuery):
    """`GET /api/v1/comparison`."""

    k: Annotated[int, Field(ge=1, le=MAX_K)] = 3
    against: Annotated[list[str], Field(default_factory=list)]


@router.get(
    "/api/v1/comparison", summary="pass^k of a window against the one before it, or of one model against another"
)
def comparison(request: Request, query: Annotated[ComparisonQuery, Query()]) -> StrictJSON:
    """Tasks with k trials on both sides, each against itself; the mean difference with its interval, by basis.

    The other side is the window of equal length before, or, with `against=model=old` (`environment`, `service`,
    `service_version`, `agent`, `model`), the same window under that filter in place of this side's.
    """
    store, bound, window = _asked(request, query)
    other = others_of(query.against, bound)
    before = window if other else Window(max(2 * window.start_ms - window.end_ms, 0), window.start_ms)
    there = {f"before_{name}": value for name, value in {**bound, **other, **bounds_of(before)}.items()}
    now = filtered(TASKS)
    sql = statement("compared").replace("now_rates AS", f"({now}) AS")
    sql = sql.replace("before_rates AS", f"({_of_the_other_side(now, there)}) AS")
    rows = store.query(sql, {**bound, **there, "ks": [query.k], "errors": "", "incomplete": ""}).dicts()
    for row in rows:
        del row["differences"]
        row["tasks"] = [dict(zip(COMPARED, task, strict=True)) for task in row["tasks"]]
    told = {"k": query.k, "window": _told(window), "before": _told(before), "against": other, "comparisons": rows}
    return StrictJSON(told)


def others_of(against: Sequence[str], bound: Mapping[str, Any]) -> dict[str, list[str]]:
    """The filters of the other side: `model=old`. Raises Refused where nothing would be told apart."""
    found: dict[str, list[str]] = {}
    for text in against:
        name, _, value = text.partition("=")
        if name not in SIDES or not value:
            raise Refused(400, f"against is {' or '.join(SIDES)}=VALUE", FieldError("?against", "not understood"))
        found.setdefault(name, []).append(value)
    for name, values in found.items():
        if not bound[name] or set(bound[name]) & set(values):
            raise Refused(
                400,
                f"both sides of a comparison are named, and differ: {name}=…",
                FieldError(f"?{name}", "name this side"),
            )
    return found


@router.get("/api/v1/changes", summary="Tasks whose pass rate changed in a window, and on which day")
def changes(request: Request, query: Annotated[WindowQuery, Query()]) -> StrictJSON:
    """The rows of `change_points` that show a change, drops first; `tasks` is among how many it was looked for."""
    store, bound, window = _asked(request, query)
    sql = statement("changes").replace("changes AS", f"({over_counts('change_points')}) AS")
    rows = store.query(sql, {**bound, "errors": "", "incomplete": ""}).dicts()
    for row in rows:
        row["changed_on"] = row["changed_on"].isoformat()
    return StrictJSON({"window": _told(window), "changes": rows})


@router.get("/api/v1/cost", summary="Cost, calls, tokens and time of trials, and what failures wasted")
def cost(request: Request, query: Annotated[WindowQuery, Query()]) -> StrictJSON:
    """Per task: cost per trial, per success, in all, wasted on trials that did not pass; null where none is known."""
    store, bound, window = _asked(request, query)
    return StrictJSON({"window": _told(window), "tasks": read(store, "cost", bound)})


def _asked(request: Request, query: WindowQuery) -> tuple[Store, dict[str, Any], Window]:
    grant: Grant = request.state.grant
    need(grant, "read")
    store: Store = request.app.state.store
    window = window_of(query.asked(), store.now_ns() // 1_000_000)
    return store, {**query.bound(grant), **bounds_of(window)}, window


def _of_the_other_side(sql: str, there: Mapping[str, Any]) -> str:
    """The same query, its window and its filters those of the other side."""
    for name in there:
        own = name.removeprefix("before_")
        sql = sql.replace(f"{{{own}:", f"{{{name}:")
    return sql


def _told(window: Window) -> dict[str, str]:
    return {"start": rfc3339_ms(window.start_ms), "end": rfc3339_ms(window.end_ms)}
