"""Stores for tests: embedded, and over HTTP through a front in another process. Fixtures are imported by conftests."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from msgspec import Struct

from collector.store.records import Grading
from collector.store.rows import Batch, SpanRow, span_row
from collector.store.store import Store
from graders.verdict import Verdict
from semconv.facts import Facts
from semconv.outcome import Outcome
from semconv.run import Run
from semconv.span import Resource, Scope, Span
from semconv.trace_line import TraceLine

ROOT = Path(__file__).resolve().parents[2]
BASE_NS = 1_793_000_000_000_000_000  # 2026-10-26 07:33:20 UTC
SECOND = 1_000_000_000
TABLES = "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%Tree'"
RESOURCE = Resource({"service.name": "shop", "service.version": "1.2", "deployment.environment.name": "prod"})
SCOPE = Scope("tests", "1")


class Place(NamedTuple):
    """What `config.store` says."""

    url: str
    cluster: str | None = None


class Front:
    """A ClickHouse HTTP front in a process of its own; every `place` is another database of it."""

    def __init__(self, folder: Path, password: str = "", port: int = 0) -> None:
        front = str(ROOT / "tests/support/clickhouse_front.py")
        command = [sys.executable, front, str(folder), "--password", password, "--port", str(port)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.port = json.loads(self._process.stdout.readline())["port"]
        self._password = password
        self._databases = 0

    def place(self) -> Place:
        self._databases += 1
        user = f"default:{self._password}@" if self._password else ""
        return Place(f"clickhouse://{user}127.0.0.1:{self.port}/passhat_{self._databases}")

    def kill(self) -> None:
        """The server is gone from one moment to the next."""
        self._process.kill()
        self.stop()

    def stop(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(10)
        self._process.stdout.close()


@pytest.fixture(scope="session")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    front = Front(tmp_path_factory.mktemp("front") / "engine")
    yield front
    front.stop()


@pytest.fixture(params=["embedded", "server"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Where a store may be made: in process, and behind HTTP."""
    if request.param == "embedded":
        return Place(f"chdb:{tmp_path / 'data'}")
    front: Front = request.getfixturevalue("front")
    return front.place()


@pytest.fixture
def open_store(place: Place, tmp_path: Path) -> Iterator[Callable[[], Store]]:
    """Opens the same store, again after closing it."""
    opened: list[Store] = []

    def open_it() -> Store:
        opened.append(Store.open(place, tmp_path / "data"))
        return opened[-1]

    yield open_it
    for store in opened:
        store.close()


@pytest.fixture(scope="module", params=["embedded", "server"])
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One store for the tests of a module: making one takes longer than most tests."""
    data = tmp_path_factory.mktemp("data")
    place = Place(f"chdb:{data}") if request.param == "embedded" else request.getfixturevalue("front").place()
    store = Store.open(place, data)
    yield store
    store.close()


@pytest.fixture
def store(shared: Store) -> Store:
    """An empty store."""
    connections = shared._connections
    with connections.writer() as client:
        for (table,) in shared.query(TABLES).rows:
            if table != "schema_migrations":
                client.command(f"TRUNCATE TABLE {table}")
    return Store(connections, "tests")


class Trial(Struct, frozen=True):
    """What `graders.trial.judge` gives, as far as the store reads it."""

    result: str = "pass"
    reason: str = ""
    trajectory: str = "pass"
    calls: str = "pass"
    outcome: str = ""
    basis: str = "trajectory"


def graded(run_id: str, result: str = "pass", ended_ns: int = BASE_NS, **more: Any) -> Grading:
    """A grading of a run of two lines. Fields of Run, Trial and Grading are taken by name."""
    fields = {name: more.pop(name) for name in list(more) if name in Run.__struct_fields__}
    run = Run(
        **{
            "project": "default",
            "run_id": run_id,
            "lines": (TraceLine(n=1, role="user", text="go"), TraceLine(n=2, role="result", subtype="success")),
            "task_id": "book",
            "task_version": "1",
            "task_source": "attribute",
            "closed_by": "root",
            "started_ns": ended_ns - 5 * SECOND,
            "ended_ns": ended_ns,
            "trace_ids": (run_id,),
            **fields,
        }
    )
    trial = {name: more.pop(name) for name in list(more) if name in Trial.__struct_fields__ and name != "basis"}
    basis = more.pop("basis", "trajectory")
    given: dict[str, Any] = {"checks_version": "c1", "epoch": 1, "inputs": 2, "input_digest": "d1", "verdicts": ()}
    return Grading(run=run, trial=Trial(result, basis=basis, **trial), basis=basis, **{**given, **more})  # type: ignore[arg-type]


def verdict(check_id: str, status: str = "pass", **more: Any) -> Verdict:
    return Verdict(check_id, more.pop("kind", "response"), status, more.pop("reason", "so"), **more)  # type: ignore[arg-type]


def outcome(run_id: str, result: str = "pass", source: str = "harness", **more: Any) -> Outcome:
    return Outcome(run_id, result, source, **more)  # type: ignore[arg-type]


def span(trace: str, number: int, parent: int = 0, **more: Any) -> Span:
    """A span of half a second whose id is `number`; `parent=0` is a root."""
    given: dict[str, Any] = {
        "name": "step", "kind": 1, "start_ns": BASE_NS, "end_ns": BASE_NS + SECOND // 2, "status_code": 0,
        "status_message": "", "attributes": {}, "events": (), "links": (), "resource": RESOURCE, "scope": SCOPE,
    }  # fmt: skip
    ids = (trace, f"{number:016x}", f"{parent:016x}" if parent else "")
    return Span(*ids, **{**given, **more})


def row(one: Span, facts: Facts | None = None, *, project: str = "default", received_ns: int = BASE_NS) -> SpanRow:
    return span_row(project, received_ns, one, facts or Facts())


def batch(*rows: SpanRow) -> Batch:
    return Batch(list(rows), [])


def trace(number: int) -> str:
    return f"{number:032x}"
