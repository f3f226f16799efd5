"""The way of the data, on one page.

    OTLP ──receive──▶ spool ──drain──▶ store (spans, logs)          acknowledged once the spool is durable
                                          │
                                     due units (read from the store)
                                          ▼
                        assemble ──▶ grade ──▶ store (trace lines, runs, verdicts)
                                          ▼
                            queries/views ──▶ API · commands · Grafana

Each stage is a callable or one thread; nothing between two stages is kept only in memory.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

from msgspec import Struct, to_builtins

from collector.config import Config
from collector.grade.grader import Grader
from collector.grade.loop import GradeLoop
from collector.health import Filling, Health, Phase, Seen, Watch, health_of
from collector.journal import folder_in
from collector.listen import Doors, WebServer, bind_all
from collector.metrics import Metrics
from collector.normalise.drain import Drain
from collector.outward.stages import outward_of
from collector.quarantine import kept_in
from collector.receive.grpc import GrpcServer
from collector.receive.http import http_app
from collector.receive.otlp import Receiver
from collector.redact.configured import redactor_of
from collector.removals import Removals
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
from collector.spool import Spool, SpoolStats
from collector.store.migrate import passhat_version
from collector.store.store import Store
from collector.telemetry import Telemetry
from collector.tls import certificates_of
from collector.tokens import Tokens, ingest_authorizer
from collector.upkeep import Upkeep

log = logging.getLogger("passhat.pipeline")


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
        self.phase: Phase = "starting"
        self._filling = Filling()
        self._closing = ExitStack()  # undone in reverse: listeners first, the store last
        with ExitStack() as opened:
            self._build(opened)
            self._closing = opened.pop_all()

    def _build(self, opened: ExitStack) -> None:
        config, metrics = self.config, self.metrics
        programs = programs_of(config)
        opened.callback(programs.close)
        words, checks, limits = words_of(config), checks_of(config, programs), limits_of(config)
        doors = bind_all(config.listen)  # before the store: a port in use is said at once, and leaves nothing behind
        opened.callback(doors.close)
        config.data.mkdir(parents=True, exist_ok=True)
        log.info("opening the store")

        self.store = Store.open(config.store, config.data)
        opened.callback(self.store.close)
        self.store.set_policy(**store_policy_of(config))
        self.store.retention.apply(config.retention, config.runs.max_age_s)
        self.store.register_words(words_digest(config))
        epoch = self.store.register_checks(checks.digest, definitions_of(config))

        self.spool = Spool(
            folder_in(config.data),
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

        self.removals = Removals(self.store, assembly_policy_of(config), self.spool)
        self.upkeep = Upkeep(self.store, self.removals)
        if config.telemetry.endpoint is not None:
            listen = config.listen
            own = Telemetry(config.telemetry, metrics, (listen.grpc, listen.http, listen.web), passhat_version())
            opened.callback(own.stop)
            self.drain.trace = self.loop.trace = own.trace
        self._build_listeners(opened, doors)

    def _build_listeners(self, opened: ExitStack, doors: Doors) -> None:
        listen = self.config.listen
        self._certificates = certificates_of(listen.tls)
        self._tls = frozenset(listen.tls.listeners if self._certificates is not None else ())
        grpc, http, web = (self._certificates if name in self._tls else None for name in ("grpc", "http", "web"))
        self._grpc = GrpcServer(self.receiver, listen.grpc, grpc.grpc_credentials() if grpc is not None else None)
        self._watch = Watch(self._look, self._grpc.say, self.metrics)
        receiving = http_app(self.receiver)
        self._http = WebServer(receiving, doors.http, certificates=http)
        app = web_app(self.store, self.status, self.config, self.metrics, self.removals)
        opened.callback(app.state.sql.close)  # before the store: the engine must be idle when it closes
        self._web = WebServer(app, doors.web, certificates=web)

    def start(self) -> Addresses:
        """Replay what the spool still holds, then accept. Returns once all three listeners do."""
        self.started_at = time.time()
        # Stopped in reverse: the receivers first, the API last, so that it says how far the draining is.
        self._web.start()
        self._closing.callback(self._web.stop)
        behind = (*self.outward.values(), self.upkeep, self.loop)
        for stage in behind:
            stage.start()
        self._closing.callback(_together, [stage.stop for stage in behind])
        self._closing.callback(self._tell_left)
        self.drain.start()
        self._closing.callback(self.drain.stop, self.config.spool.drain_s)
        self._http.start()
        self._closing.callback(self._http.stop)
        port = self._grpc.start()
        self._closing.callback(self._grpc.stop)
        self._closing.callback(self._http.leave)  # while gRPC finishes its calls
        self._watch.start()
        self._closing.callback(self._watch.stop)
        host = self.config.listen.grpc.rpartition(":")[0]
        self.addresses = Addresses(grpc=f"{host}:{port}", http=self._http.address, web=self._web.address, tls=self._tls)
        self.phase = "running"
        return self.addresses

    def stop(self) -> None:
        """Say so, accept no more, answer what is in flight, store what is spooled as far as `spool.drain_s` allows."""
        if self.phase == "running":
            self.phase = "stopping"
            self._watch.stop()  # first: else its last look could say that all is well
            self._grpc.say(serving=False)
            time.sleep(self.config.listen.announce_s)
        self._closing.close()

    def _tell_left(self) -> None:
        if left := self.spool.stats().entries:
            log.warning("%d requests wait in the spool: they are stored after the next start", left)

    def _look(self) -> Health:
        """Once a second: the health, and how the spool grows."""
        size, most = self.spool.stats().bytes, self.config.spool.max_bytes
        self.metrics.spool_seconds_left.set(self._filling.seconds_left(time.monotonic(), size, most))
        return self.health()

    def health(self) -> Health:
        """The state, with what is not well and what to do about it."""
        spool = self.spool.stats()
        self.metrics.spool_bytes.set(spool.bytes)
        self.metrics.spool_entries.set(spool.entries)
        self.metrics.set_aside.set(kept_in(self.spool.path))
        tls = self._certificates.error if self._certificates is not None else ""
        errors = {"tls": tls, "store": self.drain.last_error, "grade": self.loop.last_error}
        errors["upkeep"] = self.upkeep.last_error
        errors |= {name: str(way.status()["error"]) for name, way in self.outward.items()}
        seen = Seen(
            spool,
            max_bytes=self.config.spool.max_bytes,
            min_free_bytes=self.config.spool.min_free_bytes,
            errors=errors,
            waited_s=_waited_s(spool),
            silent_s=time.monotonic() - self.loop.heard_at,
            at_work=self.loop.at_work,
        )
        return health_of(self.phase, seen)

    def _lag(self) -> dict[str, Any]:
        """How far grading is, and what it is at since when."""
        at_work, since_s = self.loop.at_work, round(time.monotonic() - self.loop.heard_at, 3)
        lag = {"units_waiting": self.loop.waiting, "as_of_ns": self.loop.as_of_ns}
        return {**lag, "at_work": at_work, "at_work_s": since_s if at_work else 0.0}

    def status(self) -> dict[str, Any]:
        """What the stages are doing, for `/api/v1/status` and `/readyz`."""
        health, spool = self.health(), self.spool.stats()
        waiting = {"entries": spool.entries, "bytes": spool.bytes, "oldest_s": round(_waited_s(spool), 3)}
        return {
            "ready": health.ready,
            "health": health.state,
            "problems": to_builtins(health.problems),
            "listening": to_builtins(self.addresses),
            "uptime_s": round(time.time() - self.started_at, 1),
            "spool": {**waiting, "set_aside": kept_in(self.spool.path)},
            "lag": self._lag(),
            "removals": {"pending": len(self.store.tombstones.pending())},
            "outward": {name: way.status() for name, way in self.outward.items()},
            "clients": [to_builtins(client) for client in self.receiver.clients.seen()],
        }


def _together(stops: Sequence[Callable[[], None]]) -> None:
    """At the same time: where each waits for a store that answers no more, one after the other would add up."""
    with ThreadPoolExecutor(len(stops)) as pool:
        for stopped in [pool.submit(stop) for stop in stops]:
            stopped.result()


def _waited_s(spool: SpoolStats) -> float:
    """How long the oldest request has waited in the spool."""
    return max(0.0, time.time() - spool.oldest_received_ns / 1e9) if spool.oldest_received_ns else 0.0
