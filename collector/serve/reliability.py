"""`GET /api/v1/reliability`: pass@k and pass^k over a window, as the views say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from collector.serve.access import need
from collector.serve.parameters import ReliabilityQuery
from collector.serve.rates import SUITES, TASKS, rates
from collector.serve.sql import Row, read
from collector.serve.strict import StrictJSON
from collector.serve.times import EPOCH, Window, rfc3339_ms, window_of
from collector.store.store import Store
from collector.tokens import Grant

router = APIRouter()

TASK = ("project", "task_id", "task_version", "checks_version", "basis")
SUITE = ("project", "task_class", "whole", "basis")
TASK_COUNTS = (
    "task_class", "task_source", "n", "c", "errors", "invalid", "unknown", "incomplete", "pending",
    "awaiting_outcome", "nothing_judged", "evidence", "guarantee", "deff",
)  # fmt: skip
# What depends on k and is told once is told for the largest: `too_few` then means that some rate could not be told.
TASK_RATES = ("pass_at_k", "pass_hat_k", "pass_hat_k_worst", "low", "high")
SUITE_COUNTS = ("tasks", "n", "c", "superseded", "guarantee")
SUITE_RATES = ("pass_at_k", "pass_hat_k", "low", "high")
STREAM_RATES = ("stream_pass_hat_k", "stream_low", "stream_high")


@router.get("/api/v1/reliability", summary="pass@k and pass^k of tasks, classes or streams over a window")
def reliability(request: Request, query: Annotated[ReliabilityQuery, Query()]) -> StrictJSON:
    """Trials that ended in [start, end). Rates are objects by k; null where there are fewer than k trials.

    `by=task` tells each task version and checks version, `by=class` the mean over the tasks of each class,
    `by=stream` all trials of a class as one sequence. `suite` is the mean over all tasks; it is told for runs with
    outcomes where there are any. `recent` adds the results of so many latest trials.
    """
    grant: Grant = request.state.grant
    need(grant, "read")
    store: Store = request.app.state.store
    window = window_of(query.asked(), store.now_ns() // 1_000_000)
    bound = {
        **query.bound(grant),
        **bounds_of(window),
        "errors": query.errors or "",
        "incomplete": query.incomplete or "",
    }
    policy = store.policy()
    found = rates(store, (SUITES, TASKS) if query.by == "task" else (SUITES,), query.k, bound)
    suites = suites_of(found[SUITES])
    answer: Row = {
        "window": {"start": rfc3339_ms(window.start_ms), "end": rfc3339_ms(window.end_ms)},
        "errors": query.errors or policy.get("errors") or "exclude",
        "incomplete": query.incomplete or policy.get("incomplete") or "exclude",
        "k": query.k,
        "by": query.by,
    }
    if query.by == "task":
        answer["tasks"] = tasks_of(found[TASKS])
        if query.recent:
            add_recent(answer["tasks"], store, {**bound, "recent": query.recent})
    elif query.by == "class":
        answer["classes"] = [suite for suite in suites if not suite["whole"]]
    else:
        answer["streams"] = [stream_of(suite) for suite in suites]
    return StrictJSON({**answer, "suite": suite_of(suites, query.k)})


def bounds_of(window: Window) -> dict[str, str]:
    """The window as DateTime64(3) texts in UTC."""
    return {
        name: (EPOCH + timedelta(milliseconds=ms)).strftime("%Y-%m-%d %H:%M:%S.") + f"{ms % 1000:03d}"
        for name, ms in (("start", window.start_ms), ("end", window.end_ms))
    }


def tasks_of(found: Mapping[int, Sequence[Row]]) -> list[Row]:
    """The rows of `task_reliability`, the k side by side."""
    return by_k(found, TASK, (*TASK_COUNTS, "flag"), TASK_RATES)


def suites_of(found: Mapping[int, Sequence[Row]]) -> list[Row]:
    """The rows of `suite_reliability`, the k side by side; how many tasks had k trials is told by k as well."""
    by_name = {k: [{**row, "tasks_used_k": row["tasks_used"]} for row in rows] for k, rows in found.items()}
    differ = ("tasks_used_k", *SUITE_RATES, *STREAM_RATES)
    return by_k(by_name, SUITE, (*SUITE_COUNTS, "tasks_used", "flag"), differ)


def by_k(
    found: Mapping[int, Sequence[Row]], key: Sequence[str], same: Iterable[str], differ: Iterable[str]
) -> list[Row]:
    """One row per key: what is told once (for the largest k), and what is told as an object by k."""
    rows = {key_of(row, key): {name: row[name] for name in (*key, *same)} for row in found[max(found)]}
    for name in differ:
        for row in rows.values():
            row[name] = {}
        for k, of_k in found.items():
            for row in of_k:
                rows[key_of(row, key)][name][str(k)] = row[name]
    return [rows[at] for at in sorted(rows)]


def key_of(row: Row, names: Sequence[str]) -> tuple[Any, ...]:
    return tuple(row[name] for name in names)


def suite_of(suites: Sequence[Row], ks: Sequence[int]) -> Row:
    """The suite over all classes. Bases and projects are never mixed: outcomes first, then the most trials."""
    whole = [suite for suite in suites if suite["whole"]]
    if not whole:
        none = dict.fromkeys(map(str, ks))
        zeros = dict.fromkeys(("tasks", "tasks_used", "n", "c", "superseded"), 0)
        return {"basis": "", **zeros, "tasks_used_k": none, **dict.fromkeys((*SUITE_RATES, *STREAM_RATES), none)}
    return max(whole, key=lambda suite: (suite["basis"] == "outcome" and suite["tasks"] > 0, suite["n"]))


def stream_of(suite: Row) -> Row:
    """All trials of a class as one sequence of different requests: any of k would mean nothing, so pass@k is null."""
    return {
        **{name: suite[name] for name in (*SUITE, "n", "c", "guarantee")},
        "pass_at_k": dict.fromkeys(suite["stream_pass_hat_k"]),
        "pass_hat_k": suite["stream_pass_hat_k"],
        "low": suite["stream_low"],
        "high": suite["stream_high"],
    }


def add_recent(tasks: Sequence[Row], store: Store, bound: Mapping[str, Any]) -> None:
    """Put the latest results of each row of tasks beside it, oldest first."""
    recent = {key_of(row, TASK): list(reversed(row["newest_first"])) for row in read(store, "recent", bound)}
    for row in tasks:
        row["recent"] = recent.get(key_of(row, TASK), [])
