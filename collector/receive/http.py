"""OTLP/HTTP: any path that ends in /v1/traces or /v1/logs, protobuf or JSON, plain, gzip or zstd.

The order is what keeps it safe: path, method, token, types, declared size, then the body, inflated as it arrives.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from collector.errors import (
    BadData,
    MethodNotAllowed,
    NotServed,
    Overloaded,
    PermanentError,
    RetryableError,
    TooLarge,
    Unfinished,
    UnsupportedMedia,
)
from collector.journal import Signal
from collector.receive import status
from collector.receive.inflate import coding_of
from collector.receive.intake import Intake, bearer, store
from collector.receive.otlp import Call, Receiver
from collector.receive.status import CONTENT_TYPES, Encoding, Reply

SIGNALS: dict[str, Signal] = {"/v1/traces": "traces", "/v1/logs": "logs"}
ENCODINGS: dict[str, Encoding] = {"application/x-protobuf": "protobuf", "application/json": "json"}

PATHS = (
    "not served here: post spans to /v1/traces and logs to /v1/logs. OTEL_EXPORTER_OTLP_ENDPOINT is the address alone "
    "(exporters add the path), OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is taken as it is and ends in /v1/traces"
)
METRICS = "metrics are not served here, only /v1/traces and /v1/logs: set OTEL_METRICS_EXPORTER=none"

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]


def http_app(receiver: Receiver) -> FastAPI:
    """The OTLP/HTTP application: one endpoint for every path and method."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    app.mount("/", _Export(receiver))
    return app


class _Export:
    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        try:
            reply, headers = await self._answer(request)
        except Unfinished as error:
            self._receiver.turn_away("http", error, request.url.path)
            return
        await _response(reply, headers)(scope, receive, send)

    async def _answer(self, request: Request) -> tuple[Reply, dict[str, str]]:
        encoding = _encoding(request)
        signal = next((signal for path, signal in SIGNALS.items() if request.url.path.endswith(path)), None)
        if signal is None:
            return self._turned_away(request, encoding or "json"), {}
        call = Call(signal, encoding or "json", "http")
        try:
            return await self._export(request, call, known=encoding is not None), {}
        except Unfinished:
            raise
        except (PermanentError, RetryableError) as error:
            headers = {"allow": "POST"} if isinstance(error, MethodNotAllowed) else {}
            return self._receiver.refuse(call, error), headers

    def _turned_away(self, request: Request, encoding: Encoding) -> Reply:
        """A path that is not served. Only what may be an export is counted: probes and browsers read."""
        error = NotServed(METRICS if request.url.path.endswith("/v1/metrics") else PATHS)
        if request.method == "POST":
            self._receiver.turn_away("http", error, request.url.path)
        return status.failure(error, encoding)

    async def _export(self, request: Request, call: Call, known: bool) -> Reply:
        if request.method != "POST":
            raise MethodNotAllowed("send a POST")
        call.principal = self._receiver.authorize(_token(request))
        if not known:
            raise UnsupportedMedia("content type not served: send application/x-protobuf or application/json")
        coding = coding_of(",".join(request.headers.getlist("content-encoding")))
        self._check_length(request)
        intake = Intake(self._receiver, coding, call)
        try:
            await self._read(request, intake)
            await store(self._receiver, call, intake.finish())
        finally:
            intake.free()
        return self._receiver.acknowledge(call)

    def _check_length(self, request: Request) -> None:
        most = self._receiver.limits.max_request_bytes
        declared = request.headers.get("content-length", "")
        if declared.isdecimal() and int(declared[:20]) > most:
            raise TooLarge(f"the request has {declared[:20]} bytes, {most} are accepted: send smaller batches")

    async def _read(self, request: Request, intake: Intake) -> None:
        limit = self._receiver.limits.read_timeout_s
        try:
            async with asyncio.timeout(limit):
                more = True
                while more:
                    message = await request.receive()
                    if message["type"] == "http.disconnect":
                        raise Unfinished("the client hung up before its request was complete")
                    await intake.feed(message.get("body", b""))
                    more = message.get("more_body", False)
        except TimeoutError:
            raise Overloaded(f"the request did not arrive within {limit:g} s") from None


def _encoding(request: Request) -> Encoding | None:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return ENCODINGS.get(media_type)


def _token(request: Request) -> str | None:
    """The bearer token, None without one. Raises BadData for several: which of them counts must not be guessed."""
    headers = request.headers.getlist("authorization")
    if len(headers) > 1:
        raise BadData("more than one Authorization header")
    return bearer(headers[0]) if headers else None


def _response(reply: Reply, headers: dict[str, str]) -> Response:
    if reply.retry_after_s:
        headers = {**headers, "retry-after": str(reply.retry_after_s)}
    if reply.http_status == 401:
        headers = {**headers, "www-authenticate": "Bearer"}
    return Response(reply.body, reply.http_status, headers, CONTENT_TYPES[reply.encoding])
