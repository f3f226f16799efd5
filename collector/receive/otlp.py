"""The receiver, the same for both transports: decode, check, make durable, answer.

    token ──authorize──▶ bytes ──decode──▶ request ──check──▶ redact ──▶ spool ──durable──▶ reply

Nothing is acknowledged before the spool has it. What goes wrong before that and is no fault of the request is answered
as retryable, an error of our own included: a client drops what is answered by 500.
"""

from __future__ import annotations

import logging
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, wait
from contextlib import nullcontext
from typing import Any, Literal, TypeAlias

from google.protobuf.message import DecodeError
from msgspec import Struct, field
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.errors import Overloaded, PermanentError, RetryableError
from collector.journal import Signal
from collector.metrics import Metrics
from collector.quiet_log import QuietLog
from collector.receive import otlp_json, status
from collector.receive.check import SHAPES, Group, check
from collector.receive.clients import Clients
from collector.receive.findings import TRUNCATED, Findings
from collector.receive.limits import InFlight, Limits
from collector.receive.repair import repair
from collector.receive.shed import shed
from collector.receive.status import Encoding, Reply
from collector.spool import Spool

logger = logging.getLogger(__name__)

HEAVY_BYTES = 1 << 20  # larger requests are decoded one after the other: their messages take several times the bytes
PROJECT_CHARS = 200
NO_SIGNAL = "none"  # the label of what was sent to where no signal is received

Transport: TypeAlias = Literal["grpc", "http"]


class Principal(Struct, frozen=True):
    """Who sends: `project` is the token's, None where the resource may name it."""

    name: str = ""
    project: str | None = None
    scopes: frozenset[str] = frozenset({"ingest"})


Authorize: TypeAlias = Callable[[str | None], Principal]  # raises Unauthenticated or Forbidden
# Rewrites a request in place, given its serialized form and signal; how many values of which kind, None: as it was.
Redact: TypeAlias = Callable[[Any, bytes, Signal], Mapping[str, int] | None]


def everyone(token: str | None) -> Principal:
    """No token is configured: whoever reaches the socket may send."""
    return Principal()


class Call(Struct):
    """One export request on its way through the receiver."""

    signal: Signal
    encoding: Encoding
    transport: Transport
    principal: Principal = Principal()
    records: int = 0  # valid ones, once that is known
    findings: Findings = field(default_factory=Findings)
    groups: list[Group] = []
    durable: list[Future[int]] = []
    started: float = field(default_factory=time.monotonic)


class Receiver:
    """Turns the bytes of export requests into durable spool entries and replies; thread-safe."""

    def __init__(
        self,
        spool: Spool,
        metrics: Metrics,
        limits: Limits | None = None,
        *,
        default_project: str = "default",
        authorize: Authorize = everyone,
        redact: Redact | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self.authorize = authorize
        self.in_flight = InFlight(self.limits.inflight_bytes)
        self.clients = Clients()
        self._spool = spool
        self._metrics = metrics
        self._default_project = default_project
        self._redact = redact
        self._heavy = threading.Lock()
        self._log = QuietLog(logger)

    def handle(
        self, signal: Signal, encoding: Encoding, body: bytes, token: str | None = None, transport: Transport = "http"
    ) -> Reply:
        """The whole way of one request, blocking until it is durable or refused."""
        call = Call(signal, encoding, transport)
        try:
            call.principal = self.authorize(token)
            self.begin(call, body)
            done, late = wait(call.durable, self.limits.ack_timeout_s)
            if late:
                self.give_up(call)
            for future in done:
                future.result()
        except (PermanentError, RetryableError) as error:
            return self.refuse(call, error)
        return self.acknowledge(call)

    def begin(self, call: Call, body: bytes) -> None:
        """Decodes, checks and hands to the spool: the request is safe when all of `call.durable` are done.

        Raises PermanentError or RetryableError, and nothing of it is kept then.
        """
        try:
            with self._heavy if len(body) > HEAVY_BYTES else nullcontext():
                self._prepare(call, body)
        except (PermanentError, RetryableError):
            raise
        except Exception as error:
            self._say_bug(error)
            raise Overloaded("an internal error kept the request from being stored: send it again") from None

    def _prepare(self, call: Call, body: bytes) -> None:
        findings = call.findings
        self._metrics.received_bytes.labels(call.signal).inc(len(body))
        request = self._decode(call, body)
        call.groups = check(request, call.signal, len(body), self.limits, findings)
        call.records = sum(group.records for group in call.groups)
        if findings.refused and not call.records:
            raise findings.as_error()
        if not call.records:
            return
        shed(call.signal, request, self._spool.share)
        findings.write_marks()
        wire = body if call.encoding == "protobuf" and not findings.changed else request.SerializeToString()
        if self._redact is not None and (redacted := self._redact(request, wire, call.signal)) is not None:
            findings.redacted, wire = redacted, request.SerializeToString()
        received_ns = time.time_ns()
        for project, payload in self._by_project(call, request, wire):
            call.durable.append(self._spool.append(project, call.signal, payload, received_ns))

    def _decode(self, call: Call, body: bytes) -> Any:
        if call.encoding == "json":
            return otlp_json.decode(body, call.signal, call.findings)
        try:
            return SHAPES[call.signal].request.FromString(body)
        except DecodeError:
            return repair(body, call.signal, call.findings)

    def _by_project(self, call: Call, request: Any, wire: bytes) -> Iterable[tuple[str, bytes]]:
        """One payload a project; `wire` is the whole request serialized, as received where it may stay as it is."""
        projects: dict[str, list[Any]] = {}
        for group in call.groups:
            projects.setdefault(self._project(call, group), []).append(group.message)
            if len(group.project) > PROJECT_CHARS:
                call.findings.repair(None, TRUNCATED, "passhat.project")
        if len(projects) == 1:
            yield next(iter(projects)), wire
            return
        shape = SHAPES[call.signal]
        for project, messages in projects.items():
            part = shape.request()
            getattr(part, shape.groups).extend(messages)
            yield project, part.SerializeToString()

    def _project(self, call: Call, group: Group) -> str:
        if call.principal.project is not None:
            return call.principal.project
        return group.project[:PROJECT_CHARS] or self._default_project

    def give_up(self, call: Call) -> None:
        """The spool takes too long: what is not being written yet is taken back. Raises Overloaded."""
        for future in call.durable:
            future.cancel()
        raise Overloaded(f"the spool did not answer within {self.limits.ack_timeout_s:g} s")

    def harmless(self, name: str) -> str:
        """A name out of a request that is refused, as it may be said: without what the redaction would take out."""
        request = ExportTraceServiceRequest()
        span = request.resource_spans.add().scope_spans.add().spans.add(name=name)
        if self._redact is not None:
            self._redact(request, request.SerializeToString(), "traces")
        return str(span.name)

    def acknowledge(self, call: Call) -> Reply:
        """The reply to a request that is durable."""
        reply = status.success(call.signal, call.encoding, call.findings, self.limits.max_response_bytes)
        try:
            self._count(call, reply)
        except Exception as error:  # the data is safe: the client must hear it
            self._say_bug(error)
        return reply

    def refuse(self, call: Call, error: PermanentError | RetryableError) -> Reply:
        """The reply to a request of which nothing is kept."""
        reply = status.failure(error, call.encoding)
        refused = call.findings.refused if call.findings.refused and not call.records else None
        for reason, count in (refused or {error.reason: call.records or 1}).items():
            self._metrics.refused.labels(call.signal, reason).inc(count)
        self._metrics.requests.labels(call.signal, call.transport, _code(call, reply)).inc()
        self.clients.refused(self._projects(call), error.reason, call.records or call.findings.refused_count or 1)
        self._log.say(logging.WARNING, error.reason, "%s request refused (%s): %s", call.signal, error.reason, error)
        return reply

    def turn_away(self, transport: Transport, error: PermanentError, asked: str) -> None:
        """Count what was sent to where nothing is received: else nobody could see why nothing arrives."""
        code = error.grpc_code if transport == "grpc" else str(error.http_status)
        self._metrics.refused.labels(NO_SIGNAL, error.reason).inc()
        self._metrics.requests.labels(NO_SIGNAL, transport, code).inc()
        self.clients.refused([], error.reason, 1)
        said = "request refused (%s), sent to %.100r: %s"
        self._log.say(logging.WARNING, error.reason, said, error.reason, asked, error)

    def _count(self, call: Call, reply: Reply) -> None:
        metrics, findings = self._metrics, call.findings
        metrics.requests.labels(call.signal, call.transport, _code(call, reply)).inc()
        metrics.accepted.labels(call.signal).inc(call.records)
        metrics.ack_seconds.labels(call.transport).observe(time.monotonic() - call.started)
        for reason, count in findings.refused.items():
            metrics.refused.labels(call.signal, reason).inc(count)
        for reason, count in findings.repaired.items():
            metrics.repaired.labels(reason).inc(count)
        for kind, count in findings.redacted.items():
            metrics.redacted.labels(kind).inc(count)
        if findings.ignored:
            metrics.refused.labels(call.signal, "own_telemetry").inc(findings.ignored)
        if findings.warning:
            metrics.refused.labels(call.signal, "unknown_keys").inc()
            self._log.say(logging.WARNING, "unknown_keys", "%s request: %s", call.signal, findings.warning)
        if findings.refused:
            self._log.say(logging.WARNING, "partial", "%s: %s", SHAPES[call.signal].noun, findings.explain())
        self.clients.accepted(self._projects(call), findings.refused)

    def _projects(self, call: Call) -> list[tuple[str, str, int]]:
        return [(self._project(call, group), group.service, group.records) for group in call.groups]

    def _say_bug(self, error: Exception) -> None:
        """Where it happened, without the error's own text: that may quote what was sent."""
        where = "".join(traceback.format_tb(error.__traceback__))
        self._log.say(logging.ERROR, "internal", "internal error %s:\n%s", type(error).__name__, where)


def _code(call: Call, reply: Reply) -> str:
    return reply.grpc_code if call.transport == "grpc" else str(reply.http_status)
