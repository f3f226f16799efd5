"""The views of rates over a part of the trials: their own SQL, read over filtered counts.

A filter cannot be applied to a rate after it was computed. So the text of the view (and of the views it reads) is
taken as it stands in queries/views, and only the counts at its bottom are filtered: every number keeps its one
definition.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from collector.serve.sql import Row, statement
from collector.store.sqlfiles import view_files
from collector.store.store import Store

ONE_K, SEVERAL_K = "{k:UInt32} AS k", "arrayJoin({ks:Array(UInt32)}) AS k"
TASKS, SUITES = "task_reliability", "suite_reliability"
BOTTOM = "counts_between"
_READS = re.compile(r"(\w+)\(start=\{start:DateTime64\(3, 'UTC'\)\}, end=\{end:DateTime64\(3, 'UTC'\)\}\)")
_CREATES = re.compile(r"CREATE OR REPLACE VIEW \w+ AS")


def rates(
    store: Store, views: Sequence[str], ks: Sequence[int], bound: Mapping[str, Any]
) -> dict[str, dict[int, list[Row]]]:
    """The rows of `task_reliability`, `suite_reliability` or both, by view and k. Raises StoreError.

    All k of a view are one query: trials that arrive meanwhile would be counted for one k and not for another.
    """
    found: dict[str, dict[int, list[Row]]] = {view: {k: [] for k in ks} for view in views}
    for view in views:
        for row in store.query(filtered(view), {**bound, "ks": list(ks)}).dicts():
            found[view][row.pop("k")].append(row)
    return found


@cache
def filtered(view: str) -> str:
    """The SQL of a view over filtered counts, for several k at once."""
    text = over_counts(view)
    if text.count("{k:UInt32}") != 1 or ONE_K not in text:
        raise AssertionError(f"{view} does not say `{ONE_K}` once: several k would need several queries")
    return text.replace(ONE_K, SEVERAL_K)


@cache
def over_counts(view: str) -> str:
    """The SQL of a view over filtered counts."""
    bodies = {file.object: _CREATES.sub("", file.statement, count=1) for file in view_files() if file.kind == "VIEW"}
    text = _inlined(bodies[view], bodies)
    if statement("filtered_counts") not in text:
        raise AssertionError(f"{view} does not read {BOTTOM}: a filter would change nothing")
    return text


def over_filters(sql: str) -> str:
    """A query over `counts_between`, with that read over filtered counts; `{recent:…}` may stand for `{start:…}`."""
    recent = statement("filtered_counts").replace("{start:", "{recent:")
    return _inlined(sql, {}).replace(
        "counts_between(start={recent:DateTime64(3, 'UTC')}, end={end:DateTime64(3, 'UTC')}) AS", f"({recent}) AS"
    )


def _inlined(body: str, bodies: Mapping[str, str]) -> str:
    def put(match: re.Match[str]) -> str:
        if match[1] == BOTTOM:
            return f"({statement('filtered_counts')})"
        inner = _inlined(bodies[match[1]], bodies) if match[1] in bodies else ""
        # A view that reads no counts (who shared a workspace) is not what is filtered.
        return f"({inner})" if statement("filtered_counts") in inner else match[0]

    return _READS.sub(put, body)
