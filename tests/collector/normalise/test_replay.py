"""A record or a span that belongs to another run than before: it counts there, once, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from collector.assemble import Policy
from collector.config.keys import StoreConfig
from collector.grade.due import DuePolicy
from collector.grade.grader import Grader
from collector.grade.loop import GradeLoop
from collector.metrics import Metrics
from collector.normalise.replay import Replay
from collector.store.rows import Batch, log_row, span_row
from collector.store.store import Store
from graders.checkset import CheckSet
from semconv.resolve import facts_of, facts_of_log
from semconv.span import LogRecord, Resource, Scope, Span
from semconv.words import Words
from tests.semconv import build

BASE = 1_793_000_000_000_000_000
ASKED, DID = "acme.asked", "acme.did"


def words(join: str) -> Words:
    """A dialect of a harness that only logs; `join` names what ties its records to one run."""
    fields = {"attempt": join, "join": join}
    dialect = {
        "name": "acme",
        "match": [{"scope": "acme"}],
        "logs": {
            ASKED: {"operation": "agent", "boundary": "start", "fields": {**fields, "messages_in": "$body"}},
            DID: {"operation": "tool", "fields": {**fields, "tool": "acme.tool", "call_id": "acme.tool"}},
        },
    }
    return Words(dialects=[dialect])


OLD, NEW = words("acme.session"), words("acme.prompt")


def record(event: str, at: int, prompt: str, **more: Any) -> LogRecord:
    """All of one session, of two prompts."""
    attributes = {"event.name": event, "acme.session": "s", "acme.prompt": prompt, **more}
    return build.log(attributes, scope="acme", time_ns=BASE + at, body="go")


RECORDS = [
    record(ASKED, 1, "p1"),
    record(DID, 2, "p1", **{"acme.tool": "a"}),
    record(ASKED, 3, "p2"),
    record(DID, 4, "p2", **{"acme.tool": "b"}),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder: Path = tmp_path_factory.mktemp("replay")
    opened = Store.open(StoreConfig(url=f"chdb:{folder}"), folder)
    yield opened
    opened.close()


def grade(store: Store, project: str) -> dict[str, list[str]]:
    """The runs of a project after all that is due was graded, each with its calls."""
    checks = CheckSet.compile()
    grader = Grader(checks, Policy(), store.register_checks(checks.digest, "{}"))
    GradeLoop(store, grader, DuePolicy(settle_s=0, idle_s=0), Metrics()).step()
    runs: dict[str, list[str]] = {
        run_id: [] for (run_id,) in store.query(f"SELECT run_id FROM trials WHERE project = '{project}'").rows
    }
    sql = f"SELECT run_id, tool FROM tool_calls WHERE project = '{project}' ORDER BY time, n"
    for run_id, tool in store.query(sql).rows:
        runs[run_id].append(tool)
    return runs


def replayed(store: Store, generation: int) -> None:
    replay = Replay(store, NEW, generation)
    cursor = replay.begin()
    while not cursor.finished:
        cursor = replay.step()


def put(store: Store, project: str) -> None:
    first = store.register_words("old words")
    store.insert(Batch(logs=[log_row(project, BASE, one, facts_of_log(one, OLD), first) for one in RECORDS]))


def moved(store: Store, project: str) -> int:
    return int(
        store.query(f"SELECT count() FROM logs FINAL WHERE project = '{project}' AND has(flags, 'moved')").rows[0][0]
    )


def test_records_that_move_leave_a_mark_and_count_in_their_new_run_alone(store: Store) -> None:
    put(store, "moves")
    before = grade(store, "moves")
    assert sorted(before.values()) == [["a"], ["b"]]
    generation = store.register_words("new words")
    replayed(store, generation)
    after = grade(store, "moves")
    assert sorted(after.values()) == [["a"], ["b"]]
    assert not set(before) & set(after)  # those of the old unit are withdrawn
    assert moved(store, "moves") == len(RECORDS)
    replayed(store, generation)
    assert (grade(store, "moves"), moved(store, "moves")) == (after, len(RECORDS))


@pytest.mark.parametrize(
    ("step", "is_killed"),
    [
        ("join", True),
        ("touch", True),
        ("replace", True),
        ("second touch", True),
        ("second touch", False),
        ("save", True),
    ],
)
def test_a_replay_that_breaks_within_a_slice_moves_all_the_same(
    store: Store, monkeypatch: pytest.MonkeyPatch, step: str, is_killed: bool
) -> None:
    """A repeated slice finds its rows written: what was to follow them must not be lost."""
    project = f"breaks at {step}, {is_killed}"
    put(store, project)
    before = grade(store, project)
    generation = store.register_words(project)
    with monkeypatch.context() as patched:
        breaking(patched, store, step)
        with pytest.raises(RuntimeError):
            replayed(store, generation)
    if is_killed:
        store.replays._owed.clear()
    replayed(store, generation)
    after = grade(store, project)
    assert sorted(after.values()) == [["a"], ["b"]]
    assert not set(before) & set(after)


def breaking(patched: pytest.MonkeyPatch, store: Store, step: str) -> None:
    """Make a step of the slice that has the records raise, once it is done (`replace`, `second touch`: before it)."""
    owner: Any = store.replays if step == "save" else store.replays._writer
    name = step.removeprefix("second ")
    works = getattr(owner, name)
    calls: list[object] = []

    def breaks(*given: Any) -> Any:
        calls.append(given)
        if len(calls) == (2 if step in ("second touch", "save") else 1):
            raise RuntimeError("broken on purpose")
        return works(*given)

    patched.setattr(owner, name, breaks)


def span(number: int, parent: int, **attributes: str) -> Span:
    operation = "execute_tool" if "gen_ai.tool.name" in attributes else "invoke_agent"
    return Span(
        "f" * 32, f"{number:016x}", f"{parent:016x}" if parent else "", operation, 1, BASE + number, BASE + 99, 0, "",
        {"gen_ai.operation.name": operation, **attributes}, (), (), Resource({"service.name": "s"}), Scope(),
    )  # fmt: skip


def test_spans_move_to_the_run_that_a_late_span_begins(store: Store) -> None:
    """The trial's own span comes last: until then its calls seem to be the trace's."""
    plain = Words()

    def insert(*spans: Span) -> None:
        store.insert(Batch(spans=[span_row("late", BASE, one, facts_of(one, plain)) for one in spans]))

    insert(span(1, 0), span(3, 2, **{"gen_ai.tool.name": "a"}), span(5, 4, **{"gen_ai.tool.name": "b"}))
    assert grade(store, "late") == {"f" * 32: ["a", "b"]}
    trial = {"passhat.task.id": "t", "passhat.trial.id": "1"}
    insert(span(2, 1, **trial), span(4, 1, **{**trial, "passhat.trial.id": "2"}))
    ids = [f"{'f' * 32}:{number:016x}" for number in (2, 4)]
    assert grade(store, "late") == {ids[0]: ["a"], ids[1]: ["b"]}
    assert store.query("SELECT count() FROM runs FINAL WHERE project = 'late' AND NOT alive").rows == [(1,)]
