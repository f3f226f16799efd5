"""What the store says of a gate's window: the queries of queries/gate, and the anchored window they are read over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from msgspec import Struct

from collector.config.keys import GateConfig
from collector.serve.rates import over_filters
from collector.serve.reliability import bounds_of
from collector.serve.sql import Row
from collector.serve.times import Window
from collector.store.sqlfiles import statement
from collector.store.store import Store

DAY_MS = 86_400_000
WEEK_MS = 7 * DAY_MS
MONDAY_MS = 4 * DAY_MS  # 1970-01-05
MOST_FAILED = 200  # failed runs that are looked into
PARTS = ("numbers", "newest", "critical")  # what evidence.sql puts together
Version = tuple[str, str]  # service, service_version


class Numbers(Struct, frozen=True):
    """All a gate decides on and shows. `row` as queries/gate/numbers.sql gives it; runs newest first."""

    by: str
    row: Row
    versions: Sequence[Version]
    newest_ms: int | None
    critical: Sequence[Row]
    failed: Sequence[Row]


def anchored(at_ms: int, length_ms: int) -> Window:
    """From the last Monday (UTC) at or before `at - length` to `at`: one of 53 starts a year, however often asked.

    A series that began later starts with its own first trial: nothing of it lies before.
    """
    start = at_ms - length_ms
    monday = (start - MONDAY_MS) // WEEK_MS * WEEK_MS + MONDAY_MS
    return Window(max(monday, 0), at_ms)


def numbers_of(store: Store, policy: GateConfig, filters: Mapping[str, Any], window: Window, by: str) -> Numbers:
    """Read the window. `by` is `task`, `class` or `stream`; a class nobody named the tasks of is a stream.

    What is decided on is one query; the failed runs that are shown beside are another.
    """
    asked = {**_bound(policy, filters, window), "limit": MOST_FAILED}
    asked["versions"] = versions = _newest_versions(store, asked)
    row = _evidence(store, asked, by)
    if by == "class" and not row["tasks"] and row["unnamed"]:
        by = "stream"
        row = _evidence(store, asked, by)
    critical = [{"run_id": run_id, "project": project, "checks": checks} for run_id, project, checks in row["critical"]]
    return Numbers(
        by="stream" if by == "task" and row["tasks"] and not row["named"] else by,
        row=row,
        versions=versions,
        newest_ms=row["newest_ms"],
        critical=critical,
        failed=_rows(store, "failed", asked),
    )


def projects_of(store: Store, policy: GateConfig, filters: Mapping[str, Any], window: Window) -> list[str]:
    """The projects whose trials the filters let through, at most a hundred of them."""
    return [row["project"] for row in _rows(store, "projects", _bound(policy, filters, window))]


def _bound(policy: GateConfig, filters: Mapping[str, Any], window: Window) -> dict[str, Any]:
    recent = Window(max(window.end_ms - 3 * DAY_MS, 0), window.end_ms)
    return {
        **filters, **bounds_of(window), "recent": bounds_of(recent)["start"], "errors": "", "incomplete": "",
        "k": policy.k, "min": policy.min, "alpha": 1 - policy.confidence, "counted_basis": policy.basis,
    }  # fmt: skip


def _newest_versions(store: Store, asked: Mapping[str, Any]) -> list[Version]:
    """Of each service the version deployed last, or all that were asked for."""
    rows = [(row["service"], row["service_version"]) for row in _rows(store, "versions", asked)]
    if asked["service_version"]:
        return rows
    return list({service: (service, version) for service, version in reversed(rows)}.values())


def _evidence(store: Store, asked: Mapping[str, Any], by: str) -> Row:
    return _rows(store, "evidence", {**asked, "by": by})[0]


def _rows(store: Store, name: str, asked: Mapping[str, Any]) -> list[Row]:
    return store.query(_sql(name), asked).dicts()


@cache
def _sql(name: str) -> str:
    text = statement(f"gate/{name}")
    for part in PARTS:
        text = text.replace(f"gate_{part} AS", f"({statement(f'gate/{part}')}) AS")
    return over_filters(text)
