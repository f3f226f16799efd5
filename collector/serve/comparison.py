"""`GET /api/v1/comparison`: this window against the one before it. `GET /api/v1/cost`: what trials cost."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import Field

from collector.serve.access import need
from collector.serve.parameters import MAX_K, Filters
from collector.serve.rates import TASKS, filtered
from collector.serve.reliability import bounds_of
from collector.serve.sql import read, statement
from collector.serve.strict import StrictJSON
from collector.serve.times import Asked, Window, rfc3339_ms, window_of
from collector.store.store import Store
from collector.tokens import Grant

router = APIRouter()


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


@router.get("/api/v1/comparison", summary="pass^k of a window against the window of equal length before it")
def comparison(request: Request, query: Annotated[ComparisonQuery, Query()]) -> StrictJSON:
    """Tasks with k trials in both windows, each against itself; the mean difference with its interval, by basis."""
    store, bound, window = _asked(request, query)
    before = Window(max(2 * window.start_ms - window.end_ms, 0), window.start_ms)
    sql = statement("compared")
    now = filtered(TASKS)
    sql = sql.replace("now_rates AS", f"({now}) AS").replace("before_rates AS", f"({_renamed(now)}) AS")
    earlier = {f"before_{name}": at for name, at in bounds_of(before).items()}
    rows = store.query(sql, {**bound, **earlier, "ks": [query.k], "errors": "", "incomplete": ""}).dicts()
    for row in rows:
        del row["differences"]
        row["tasks"] = [{"task_id": task, "before": b, "now": a} for task, b, a in row["tasks"]]
    return StrictJSON({"k": query.k, "window": _told(window), "before": _told(before), "comparisons": rows})


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


def _renamed(sql: str) -> str:
    """The same query over the window before."""
    return sql.replace("{start:", "{before_start:").replace("{end:", "{before_end:")


def _told(window: Window) -> dict[str, str]:
    return {"start": rfc3339_ms(window.start_ms), "end": rfc3339_ms(window.end_ms)}
