"""Hour and day counts equal a full recount after any history of gradings."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collector.store.grading_rows import version_of
from collector.store.records import Grading
from collector.store.store import Store
from tests.support.stores import BASE_NS, SECOND, graded

HOUR = 3600 * SECOND
PROJECTS = (f"history-{n}" for n in itertools.count())
RESULTS = ("pass", "fail", "error", "invalid", "unknown", "incomplete", "pending")
COLUMNS = ("pass", "fail", "error", "invalid", "evidence", "incomplete", "pending")


class Write(NamedTuple):
    """One grading of one of four runs; `blind` graders do not see what others wrote."""

    run: int
    epoch: int
    inputs: int
    result: str
    task: str
    hours: int
    alive: bool
    blind: bool


writes = st.builds(
    Write,
    run=st.integers(0, 3),
    epoch=st.integers(1, 2),
    inputs=st.integers(1, 6),
    result=st.sampled_from(RESULTS),
    task=st.sampled_from(["a", "b"]),
    hours=st.sampled_from([0, 1, 2, 30, 24 * 40]),
    alive=st.sampled_from([True, True, True, False]),
    blind=st.sampled_from([False, False, True]),
)
histories = st.lists(st.lists(writes, min_size=1, max_size=3), min_size=1, max_size=6)


def grading(project: str, write: Write) -> Grading:
    return graded(
        f"run-{write.run}",
        write.result,
        BASE_NS - write.hours * HOUR,
        project=project,
        task_id=write.task,
        epoch=write.epoch,
        inputs=write.inputs,
        alive=write.alive,
        closed_by="" if write.result == "pending" else "root",
    )


def written(store: Store, project: str, batch: list[Write]) -> None:
    """Blind graders read nothing of what is stored: what two collectors do at the same time."""
    reader = store._gradings._reader
    known: Callable[..., Any] = reader.stored_runs
    for blind in (False, True):
        gradings = [grading(project, write) for write in batch if write.blind == blind]
        if blind:
            reader.stored_runs = lambda keys: {}  # type: ignore[assignment,method-assign]
        try:
            store.write_gradings(gradings)
        finally:
            reader.stored_runs = known  # type: ignore[method-assign]


def counted(store: Store, table: str, at: str, project: str) -> Counter[tuple[int, str, str]]:
    sums = ", ".join(f"sum({name})" for name in COLUMNS)
    where = "WHERE project = {p:String} GROUP BY ALL"
    sql = f"SELECT toUnixTimestamp({at}), task_id, {sums} FROM {table} FINAL {where}"
    found: Counter[tuple[int, str, str]] = Counter()
    for start, task, *numbers in store.query(sql, {"p": project}).rows:
        for name, number in zip(COLUMNS, numbers, strict=True):
            found[start, task, name] += number
    return +found


def stored(store: Store, unit_s: int, project: str) -> Counter[tuple[int, str, str]]:
    """The same, from the runs themselves."""
    rows = store.query("SELECT ended, task_id, result FROM trials WHERE project = {p:String}", {"p": project}).rows
    names = {"unknown": "evidence"}
    return Counter((int(e.timestamp()) // unit_s * unit_s, task, names.get(r, r)) for e, task, r in rows)


def newest(histories: list[list[Write]]) -> dict[int, Write]:
    """What must be current: of each run the grading built from most, of equals the last written."""
    best: dict[int, tuple[int, Write]] = {}
    for batch in histories:
        for write in sorted(batch, key=lambda write: write.blind):
            version = version_of(grading("any", write))
            if write.run not in best or version >= best[write.run][0]:
                best[write.run] = (version, write)
    return {run: write for run, (_, write) in best.items()}


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(histories)
def test_counts_equal_a_full_recount_after_any_history(shared: Store, history: list[list[Write]]) -> None:
    project = next(PROJECTS)
    if shared.embedded:  # there are no two graders
        history = [[write._replace(blind=False) for write in batch] for batch in history]
    for batch in history:
        written(shared, project, batch)
    assert counted(shared, "hour_counts", "hour", project) == stored(shared, 3600, project)
    assert counted(shared, "day_counts", "day", project) == stored(shared, 86400, project)
    assert shared.repair() == 0
    expected = {run: write for run, write in newest(history).items() if write.alive}
    found = shared.query("SELECT run_id, result, task_id FROM trials WHERE project = {p:String}", {"p": project}).rows
    assert {(r, res, t) for r, res, t in found} == {(f"run-{n}", w.result, w.task) for n, w in expected.items()}
