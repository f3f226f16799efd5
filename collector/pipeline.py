"""The way of the data, on one page.

    OTLP ──receive──▶ spool ──drain──▶ store (spans, logs)          acknowledged once the spool is durable
                                          │
                                     due units (read from the store)
                                          ▼
                        assemble ──▶ grade ──▶ store (trace lines, runs, verdicts)
                                          ▼
                            queries/views ──▶ API · commands · page

Each stage is a callable or one thread; nothing between two stages is kept only in memory.
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import Any

from msgspec import Struct, to_builtins

from collector.config import Config
from collector.grade.grader import Grader
from collector.grade.loop import GradeLoop
from collector.listen import WebServer, bind
from collector.metrics import Metrics
from collector.normalise.drain import Drain
from collector.outward.stages import outward_of
from collector.receive.grpc import GrpcServer
from collector.receive.http import http_app
from collector.receive.otlp import Receiver
from collector.redact.configured import redactor_of
from collector.rules import (
    assembly_policy_of,
    checks_of,
    definitions_of,
    due_policy_of,
    limits_of,
    programs_of,
    store_policy_of,
    words_digest,
    words_of,
)
from collector.serve.app import web_app
from collector.spool import Spool
from collector.store.store import Store
from collector.tls import certificates_of
from collector.tokens import Tokens, ingest_authorizer


class Addresses(Struct, frozen=True):
    """Where a collector listens, `host:port` each."""

    grpc: str
    http: str
    web: str
    tls: frozenset[str] = frozenset()  # which of them speak TLS

    def url(self, listener: str) -> str:
        """The address with its scheme."""
        return f"http{'s' if listener in self.tls else ''}://{getattr(self, listener)}"


class Collector:
    """Everything `passhat serve` runs: made, started, stopped. One per data directory."""

    def __init__(self, config: Config, metrics: Metrics | None = None) -> None:
        self.config = config
        self.metrics = metrics or Metrics()
        self.addresses = Addresses(grpc="", http="", web="")
        self._closing = ExitStack()  # undone in reverse: listeners first, the store last
        with ExitStack() as opened:
            self._build(opened)
            self._closing = opened.pop_all()

    def _build(self, opened: ExitStack) -> None:
        config, metrics = self.config, self.metrics
        programs = programs_of(config)
        opened.callback(programs.close)
        words, checks, limits = words_of(config), checks_of(config, programs), limits_of(config)
        config.data.mkdir(parents=True, exist_ok=True)

        self.store = Store.open(config.store, config.data)
        opened.callback(self.store.close)
        self.store.set_policy(**store_policy_of(config))
        self.store.retention.apply(config.retention, config.runs.max_age_s)
        self.store.register_words(words_digest(config))
        epoch = self.store.register_checks(checks.digest, definitions_of(config))

        self.spool = Spool(
            config.data / "spool.sqlite",
            durability=config.spool.durability,
            max_bytes=config.spool.max_bytes,
            min_free_bytes=config.spool.min_free_bytes,
        )
        opened.callback(self.spool.close)

        authorize = ingest_authorizer(Tokens(config.auth))
        self.receiver = Receiver(self.spool, metrics, limits, authorize=authorize, redact=redactor_of(config))
        grader = Grader(checks, assembly_policy_of(config), epoch, programs)
        self.loop = GradeLoop(self.store, grader, due_policy_of(config), metrics)
        self.outward = outward_of(self.store, config, metrics)
        self.drain = Drain(self.spool, self.store, words, metrics, stored=self.loop.wake)

        self._build_listeners(opened)

    def _build_listeners(self, opened: ExitStack) -> None:
        listen = self.config.listen
        self._certificates = certificates_of(listen.tls)
        self._tls = frozenset(listen.tls.listeners if self._certificates is not None else ())
        grpc, http, web = (self._certificates if name in self._tls else None for name in ("grpc", "http", "web"))
        self._grpc = GrpcServer(self.receiver, listen.grpc, grpc.grpc_credentials() if grpc is not None else None)
        receiving = http_app(self.receiver)
        self._http = WebServer(receiving, bind(listen.http, "listen.http"), certificates=http)
        app = web_app(self.store, self.status, self.config, self.metrics)
        opened.callback(app.state.sql.close)  # before the store: the engine must be idle when it closes
        self._web = WebServer(app, bind(listen.web, "listen.web"), certificates=web)

    def start(self) -> Addresses:
        """Replay what the spool still holds, then accept. Returns once all three listeners do."""
        self.started_at = time.time()
        for stage in (*self.outward.values(), self.loop, self.drain, self._web, self._http):
            stage.start()
            self._closing.callback(stage.stop)
        port = self._grpc.start()
        self._closing.callback(self._grpc.stop)
        host = self.config.listen.grpc.rpartition(":")[0]
        self.addresses = Addresses(grpc=f"{host}:{port}", http=self._http.address, web=self._web.address, tls=self._tls)
        return self.addresses

    def stop(self) -> None:
        """Accept no more, answer what is in flight, store what is spooled as far as ten seconds allow."""
        self._closing.close()

    def status(self) -> dict[str, Any]:
        """What the stages are doing, for `/api/v1/status` and `/readyz`."""
        spool = self.spool.stats()
        self.metrics.spool_bytes.set(spool.bytes)
        self.metrics.spool_entries.set(spool.entries)
        oldest_s = time.time() - spool.oldest_received_ns / 1e9 if spool.oldest_received_ns else 0.0
        tls = self._certificates.error if self._certificates is not None else ""
        stages = {"tls": tls, "spool": spool.broken, "store": self.drain.last_error, "grade": self.loop.last_error}
        outward = {name: way.status() for name, way in self.outward.items()}
        stages |= {name: told["error"] for name, told in outward.items()}
        return {
            "ready": not spool.broken,
            "health": "degraded" if any(stages.values()) else "ok",
            "problems": [{"stage": stage, "error": error} for stage, error in stages.items() if error],
            "listening": to_builtins(self.addresses),
            "uptime_s": round(time.time() - self.started_at, 1),
            "spool": {"entries": spool.entries, "bytes": spool.bytes, "oldest_s": round(max(0.0, oldest_s), 3)},
            "lag": {"units_waiting": self.loop.waiting, "as_of_ns": self.loop.as_of_ns},
            "outward": outward,
            "clients": [to_builtins(client) for client in self.receiver.clients.seen()],
        }
