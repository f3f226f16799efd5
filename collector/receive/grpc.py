"""OTLP/gRPC: TraceService and LogsService on bytes, with our own decoding, and grpc.health.v1.

The stock service classes answer INTERNAL to a message they cannot parse, where OTLP asks for INVALID_ARGUMENT. Each
method is served as a stream of one message, so that the token is checked before a byte of it is read, and a slow
client holds no thread. gRPC's own decompression is off: one inflater and one limit for both transports.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import grpc
from grpc import aio
from grpc_health.v1 import health, health_pb2_grpc
from grpc_health.v1.health_pb2 import HealthCheckResponse

from collector.config import join_address, split_address
from collector.errors import BadData, NotServed, Overloaded, PermanentError, RetryableError, TooLarge, UsageError
from collector.journal import Signal
from collector.receive.inflate import coding_by_magic
from collector.receive.intake import Intake, bearer, store
from collector.receive.otlp import Call, Receiver
from collector.receive.status import Reply, retry_info

METHODS: dict[str, Signal] = {
    "/opentelemetry.proto.collector.trace.v1.TraceService/Export": "traces",
    "/opentelemetry.proto.collector.logs.v1.LogsService/Export": "logs",
}
SERVICES = tuple(method[1:].rpartition("/")[0] for method in METHODS)
OTLP_SERVICES = "/opentelemetry.proto.collector."
LOOPBACK = ("127.0.0.1", "localhost", "::1")
START_S = 15.0
SETTLE_S = 0.1
MAX_CALLS = 1000  # at once: each may be about to send a whole message
STATUS_KEY = "grpc-status-details-bin"
RETRY_KEY = "google.rpc.retryinfo-bin"  # the only place where stock Python exporters look


class GrpcServer:
    """The gRPC listener, in a thread with its own event loop. Port 0 is any free port."""

    def __init__(self, receiver: Receiver, address: str, credentials: grpc.ServerCredentials | None = None) -> None:
        self._receiver = receiver
        self._address = address
        self._credentials = credentials
        self._thread = threading.Thread(target=self._run, name="passhat-grpc", daemon=True)
        self._up = threading.Event()
        self._failed: BaseException | None = None
        self._grace_s: float | None = None
        self._says_serving = True
        self.port = 0

    def start(self) -> int:
        """Returns the port once it accepts. Raises UsageError when the port is taken."""
        self._thread.start()
        if not self._up.wait(START_S):
            raise RuntimeError(f"gRPC did not start within {START_S:.0f} s")
        if self._failed is not None:
            raise self._failed
        return self.port

    def say(self, serving: bool) -> None:
        """What health answers: NOT_SERVING moves load balancers on while calls are still taken."""
        if serving != self._says_serving and self._thread.is_alive():
            self._says_serving = serving
            asyncio.run_coroutine_threadsafe(self._say(serving), self._loop).result(START_S)

    async def _say(self, serving: bool) -> None:
        status = HealthCheckResponse.SERVING if serving else HealthCheckResponse.NOT_SERVING
        for service in ("", *SERVICES):
            await self._checks.set(service, status)

    def stop(self, grace_s: float = 5.0) -> None:
        """Health says NOT_SERVING, calls in flight may finish within `grace_s`, none is begun any more."""
        self._grace_s = grace_s
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join(grace_s + START_S)

    def _run(self) -> None:
        try:
            with asyncio.Runner() as runner:
                self._loop = runner.get_loop()
                runner.run(self._serve())
        except BaseException as error:
            self._failed = error
        finally:
            self._up.set()

    async def _serve(self) -> None:
        self._stopping = asyncio.Event()
        server = aio.server(options=self._options())
        server.add_generic_rpc_handlers((_Exports(self._receiver),))
        self._checks = health.aio.HealthServicer()  # type: ignore[attr-defined]  # the stubs lack it
        await self._say(serving=True)
        health_pb2_grpc.add_HealthServicer_to_server(self._checks, server)
        self.port = self._listen(server)
        await server.start()
        self._up.set()
        await self._stopping.wait()
        await self._checks.enter_graceful_shutdown()
        await server.stop(self._grace_s)

    def _options(self) -> list[tuple[str, int]]:
        return [
            ("grpc.max_receive_message_length", self._receiver.limits.max_request_bytes),
            ("grpc.per_message_decompression", 0),
            ("grpc.so_reuseport", 0),  # else a second collector would share the port in silence
            ("grpc.max_concurrent_streams", 256),  # of one connection
            ("grpc.keepalive_permit_without_calls", 1),
            ("grpc.http2.min_recv_ping_interval_without_data_ms", 5000),  # clients may ping every 5 s
        ]

    def _listen(self, server: aio.Server) -> int:
        host, port = split_address(self._address)
        bound = self._bind(server, "127.0.0.1" if host in LOOPBACK else host, port)
        if host in LOOPBACK:
            with suppress(UsageError):  # no IPv6 here: 127.0.0.1 alone serves every stock exporter
                self._bind(server, "::1", bound)
        return bound

    def _bind(self, server: aio.Server, host: str, port: int) -> int:
        address = join_address(host, port)
        try:
            if self._credentials is not None:
                return server.add_secure_port(address, self._credentials)
            return server.add_insecure_port(address)
        except RuntimeError as error:
            raise UsageError(
                f"listen.grpc: cannot listen on {address}: it is in use, or not an address of this machine",
                hint="stop the program that listens there, or set another listen.grpc (port 0: any free port)",
            ) from error


class _Exports(grpc.GenericRpcHandler):  # type: ignore[type-arg]  # generic in the stubs only
    """The two Export methods; everything else is UNIMPLEMENTED."""

    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._calls = 0

    def service(self, details: Any) -> Any:
        """The handler of one method, None for a method that is not served."""
        signal = METHODS.get(details.method)
        if signal is None and details.method.startswith(OTLP_SERVICES):  # health checks are answered by others
            error = NotServed("only the trace and the log service are served")
            self._receiver.turn_away("grpc", error, details.method)
        return None if signal is None else grpc.stream_unary_rpc_method_handler(self._method(signal))

    def _method(self, signal: Signal) -> Callable[[Any, Any], Awaitable[bytes]]:
        async def export(messages: Any, context: Any) -> bytes:
            call = Call(signal, "protobuf", "grpc")
            self._calls += 1
            try:
                return await self._export(call, context)
            except (PermanentError, RetryableError) as error:
                reply = self._receiver.refuse(call, error)
            finally:
                self._calls -= 1
            await context.abort(grpc.StatusCode[reply.grpc_code], reply.message, _trailers(reply))
            raise AssertionError("abort always raises")

        return export

    async def _export(self, call: Call, context: Any) -> bytes:
        call.principal = self._receiver.authorize(_token(context.invocation_metadata()))
        if self._calls > MAX_CALLS:
            raise Overloaded("too many calls at once")
        message = await self._read(call, context)
        intake = Intake(self._receiver, coding_by_magic(message), call)
        try:
            await intake.feed(message)
            await store(self._receiver, call, intake.finish())
        finally:
            intake.free()
        return self._receiver.acknowledge(call).body

    async def _read(self, call: Call, context: Any) -> bytes:
        limit = self._receiver.limits.read_timeout_s
        try:
            async with asyncio.timeout(limit):
                message = await context.read()
        except TimeoutError:
            raise Overloaded(f"the request did not arrive within {limit:g} s") from None
        if isinstance(message, bytes):
            return message
        await self._why_nothing(call)
        raise BadData("the call ended without a request")

    async def _why_nothing(self, call: Call) -> None:
        """gRPC refuses a message over the limit itself, and cancels its handler a moment later: that is counted too."""
        try:
            await asyncio.sleep(SETTLE_S)
        except asyncio.CancelledError:
            self._receiver.refuse(call, TooLarge("the message is over the limit"))
            raise


def _token(metadata: Any) -> str | None:
    """The bearer token, None without one. Raises BadData for several: which of them counts must not be guessed."""
    headers = [value for key, value in metadata or () if key == "authorization"]
    if len(headers) > 1:
        raise BadData("more than one authorization entry")
    return bearer(headers[0]) if headers else None


def _trailers(reply: Reply) -> tuple[tuple[str, bytes], ...]:
    details = ((STATUS_KEY, reply.body),)
    if not reply.retry_after_s:
        return details
    return (*details, (RETRY_KEY, retry_info(reply.retry_after_s).SerializeToString()))
