"""Conformance of an OTLP receiver: `pytest tests/conformance [--endpoint URL --grpc-endpoint HOST:PORT]`.

Without an endpoint the suite starts passhat's own receiver and also looks at what it stored and counted; against
another server it tests what that answers, and skips what needs its inside (a full disk, other limits).
`--table FILE` writes the table of items and results.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from collector.receive.limits import Limits
from semconv.span import LogRecord, Span
from tests.collector.receive.build import log, logs, span, traces
from tests.collector.receive.serving import Listeners, listening
from tests.conformance import table
from tests.conformance.wires import KINDS, Signal, Wire


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("conformance")
    group.addoption("--endpoint", help="OTLP/HTTP base URL of the server to test, e.g. http://127.0.0.1:4318")
    group.addoption("--grpc-endpoint", help="OTLP/gRPC target of the server to test, e.g. 127.0.0.1:4317")
    group.addoption("--table", help="write the table of items and results to this file")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "item(number, ...): the requirements of tests/conformance/items.py it tests")
    config.addinivalue_line("markers", "own: needs the inside of passhat's own receiver")
    file = config.getoption("--table", default=None)
    if file:
        config.pluginmanager.register(table.Recorder(Path(file)))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--endpoint", default=None):
        for item in items:
            if item.get_closest_marker("own"):
                item.add_marker(pytest.mark.skip(reason="needs the inside of passhat's own receiver"))


class Target:
    """The server under test. Each test has its own trace id, so that any server may be used again and again."""

    def __init__(self, http: str, grpc: str, own: Listeners | None) -> None:
        self.http = http
        self.grpc = grpc
        self.own = own
        self.trace_id = os.urandom(16)
        self._before = own.spool.stats().newest_seq if own else 0

    def spans(self) -> list[Span]:
        """What was stored since the test began; only of passhat's own receiver."""
        assert self.own is not None
        return self.own.spans(self._before)

    def logs(self) -> list[LogRecord]:
        assert self.own is not None
        return self.own.logs(self._before)

    def request(self, signal: Signal, *numbers: int, **fields: Any) -> Any:
        """A request with one record a number, named by it."""
        if signal == "traces":
            return traces(*(span(n, trace_id=self.trace_id, **fields) for n in numbers))
        return logs(*(log(f"span {n}", trace_id=self.trace_id, **fields) for n in numbers))

    def stored(self, signal: Signal, *numbers: int) -> None:
        """Exactly these records were stored; nothing is known of another server."""
        if self.own is not None:
            found = [s.name for s in self.spans()] if signal == "traces" else [r.body for r in self.logs()]
            assert sorted(found) == sorted(f"span {n}" for n in numbers)


@pytest.fixture(scope="session")
def own(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Listeners | None]:
    if request.config.getoption("--endpoint", default=None):
        yield None
        return
    with listening(tmp_path_factory.mktemp("conformance")) as running:
        yield running


@pytest.fixture
def target(own: Listeners | None, request: pytest.FixtureRequest) -> Target:
    if own is not None:
        return Target(own.http, own.grpc, own)
    endpoint = request.config.getoption("--endpoint").rstrip("/")
    return Target(endpoint, request.config.getoption("--grpc-endpoint") or "127.0.0.1:4317", None)


@pytest.fixture(params=KINDS)
def wire(request: pytest.FixtureRequest, target: Target) -> Iterator[Wire]:
    made = Wire(request.param, target.http, target.grpc)
    yield made
    made.close()


@pytest.fixture(params=["http protobuf", "http json"])
def http_wire(request: pytest.FixtureRequest, target: Target) -> Iterator[Wire]:
    made = Wire(request.param, target.http, target.grpc)
    yield made
    made.close()


@pytest.fixture
def grpc_wire(target: Target) -> Iterator[Wire]:
    made = Wire("grpc", target.http, target.grpc)
    yield made
    made.close()


@pytest.fixture(params=["traces", "logs"])
def signal(request: pytest.FixtureRequest) -> Signal:
    found: Signal = request.param
    return found


class Other(Struct):
    """A receiver of passhat with other settings, and a wire of each kind to it."""

    target: Target
    wires: dict[str, Wire]


@pytest.fixture
def other(tmp_path: Path) -> Callable[..., Any]:
    """Starts one: `with other(Limits(…), authorize=…) as it`."""

    @contextmanager
    def start(limits: Limits | None = None, **options: Any) -> Iterator[Other]:
        with listening(tmp_path, limits, **options) as running:
            wires = {kind: Wire(kind, running.http, running.grpc) for kind in KINDS}
            try:
                yield Other(Target(running.http, running.grpc, running), wires)
            finally:
                for made in wires.values():
                    made.close()

    return start
