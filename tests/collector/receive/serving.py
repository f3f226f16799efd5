"""Live listeners over a real spool, for tests: HTTP in uvicorn, gRPC, both on free ports."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from collector.metrics import Metrics
from collector.normalise.unpack import logs_of, spans_of
from collector.receive.grpc import GrpcServer
from collector.receive.http import http_app
from collector.receive.limits import Limits
from collector.receive.otlp import Receiver
from collector.receive.slow_clients import BoundedHttp
from collector.spool import Spool
from semconv.span import LogRecord, Span

PROTOBUF = "application/x-protobuf"
JSON = "application/json"


class Listeners:
    """What runs: `http` and `grpc` addresses, and what is in the spool."""

    def __init__(self, spool: Spool, receiver: Receiver, metrics: Metrics) -> None:
        self.spool = spool
        self.receiver = receiver
        self.metrics = metrics
        self._sockets = [socket.create_server(("127.0.0.1", 0))]
        self.http = f"http://127.0.0.1:{self._sockets[0].getsockname()[1]}"
        config = uvicorn.Config(
            http_app(receiver),
            http=BoundedHttp,
            lifespan="off",
            log_config=None,
            access_log=False,
            timeout_keep_alive=60,
        )
        self._uvicorn = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._grpc = GrpcServer(receiver, "127.0.0.1:0")

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=self._uvicorn.config.get_loop_factory()) as runner:
            runner.run(self._uvicorn.serve(sockets=self._sockets))

    def start(self) -> None:
        self._thread.start()
        self.grpc = f"127.0.0.1:{self._grpc.start()}"

    def stop(self) -> None:
        self._uvicorn.should_exit = True
        self._grpc.stop(1)
        self._thread.join(10)
        assert not self._thread.is_alive()

    def spans(self, after: int = 0) -> list[Span]:
        return [span for entry in self._entries("traces", after) for span in spans_of(entry)]

    def logs(self, after: int = 0) -> list[LogRecord]:
        return [log for entry in self._entries("logs", after) for log in logs_of(entry)]

    def _entries(self, signal: str, after: int) -> list[bytes]:
        found = self.spool.read(after, max_entries=10**6, max_bytes=1 << 40)
        return [entry.payload for entry in found if entry.signal == signal]

    def post(self, path: str, body: bytes, content_type: str = JSON, **headers: str) -> httpx.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        with httpx.Client(timeout=30, trust_env=False) as client:
            return client.post(f"{self.http}{path}", content=body, headers={"content-type": content_type, **named})

    def count(self, name: str, **labels: str) -> float:
        """The value of a counter, 0 when it was never touched."""
        return self.metrics.registry.get_sample_value(f"passhat_{name}_total", labels) or 0.0


@contextmanager
def slow_disk(spool: Spool, seconds: float = 3600.0) -> Iterator[threading.Event]:
    """Every commit takes so long, or until the event is set; on the way out it is."""
    journal = spool._journal
    commit, go_on = journal.append, threading.Event()

    def slowly(rows: Any) -> None:
        go_on.wait(seconds)
        commit(rows)

    journal.append = slowly  # type: ignore[method-assign]
    try:
        yield go_on
    finally:
        go_on.set()
        journal.append = commit  # type: ignore[method-assign]


@contextmanager
def listening(folder: Path, limits: Limits | None = None, **options: Any) -> Iterator[Listeners]:
    """Listeners over a fresh spool in `folder`; `options` go to the Receiver."""
    metrics = Metrics()
    spool = Spool(folder / "spool", min_free_bytes=0)
    listeners = Listeners(spool, Receiver(spool, metrics, limits, **options), metrics)
    try:
        listeners.start()
        yield listeners
        listeners.stop()
    finally:
        spool.close()
