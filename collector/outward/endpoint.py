"""Where verdicts go, through the stock exporters: taken, refused for good, or not reached.

The exporters say success or failure only. What the endpoint answered is seen on their own connections, because a batch
that can never be taken must not stand before all later ones, and one that was not reached must not be left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import grpc
import requests
from msgspec import Struct
from opentelemetry.proto.collector.logs.v1.logs_service_pb2_grpc import LogsServiceStub
from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk._logs.export import LogRecordExporter, LogRecordExportResult

from collector.config.keys import ExportConfig

Taken = Literal["taken", "refused", "away"]

# What says that this content will never do. 401, 403, 404 are about the way there: to be mended, then sent again.
FOR_GOOD: tuple[object, ...] = (400, 413, 422, grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.OUT_OF_RANGE)
# gRPC has one code for a message that is too large and for a quota: told apart by sending less.
TOO_MUCH: tuple[object, ...] = (413, grpc.StatusCode.RESOURCE_EXHAUSTED)


class Seen(Struct):
    """The last attempt of an export: whether one was made, and what came back."""

    asked: bool = False
    code: object = None
    why: str = ""


class Endpoint:
    """One exporter and what its connection sees."""

    def __init__(self, config: ExportConfig) -> None:
        self._seen = Seen()
        self._exporter = (_grpc if config.protocol == "grpc" else _http)(config, self._seen)

    def send(self, events: Sequence[ReadableLogRecord]) -> Taken:
        """Send a batch once, with the exporter's own retries."""
        self._seen.asked, self._seen.code, self._seen.why = False, None, ""
        try:
            if self._exporter.export(events) is LogRecordExportResult.SUCCESS:
                return "taken"
        except Exception as error:  # what cannot be encoded raises with one protocol and fails with the other
            self._seen.why = f"{type(error).__name__}: {error}"[:200]
        if not self._seen.asked:  # it never left: the next attempt would be no other
            return "refused"
        refused = self._seen.code in FOR_GOOD or (self._seen.code in TOO_MUCH and len(events) > 1)
        return "refused" if refused else "away"

    @property
    def why(self) -> str:
        """What the last attempt came to."""
        if not self._seen.asked:
            return self._seen.why or "it cannot be encoded"
        code = self._seen.code
        return f"it answered {code.name if isinstance(code, grpc.StatusCode) else code}" if code else "not reached"

    def close(self) -> None:
        self._exporter.shutdown()  # type: ignore[no-untyped-call]


class _Session(requests.Session):
    """The HTTP exporter's session."""

    def __init__(self, seen: Seen) -> None:
        super().__init__()
        self._seen = seen

    def request(self, *arguments: Any, **named: Any) -> requests.Response:
        self._seen.asked, self._seen.code = True, None
        reply = super().request(*arguments, **named)
        self._seen.code = reply.status_code
        return reply


class _Call(grpc.UnaryUnaryClientInterceptor):  # type: ignore[type-arg]
    """The gRPC exporter's calls."""

    def __init__(self, seen: Seen) -> None:
        self._seen = seen

    def intercept_unary_unary(self, continuation: Callable[..., Any], details: Any, request: Any) -> Any:
        self._seen.asked, self._seen.code = True, None
        call = continuation(details, request)
        self._seen.code = call.code()
        return call


def _http(config: ExportConfig, seen: Seen) -> LogRecordExporter:
    from opentelemetry.exporter.otlp.proto.http import Compression
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter

    return OTLPLogExporter(
        config.endpoint,
        headers=config.headers,
        timeout=config.timeout_s,
        compression=Compression.Gzip if config.compression == "gzip" else Compression.NoCompression,
        session=_Session(seen),
    )


def _grpc(config: ExportConfig, seen: Seen) -> LogRecordExporter:
    from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter

    class Exporter(OTLPLogExporter):
        """Makes its channel, and makes it again when the endpoint was away."""

        def _initialize_channel_and_stub(self) -> None:
            super()._initialize_channel_and_stub()  # type: ignore[no-untyped-call]
            self._client = LogsServiceStub(grpc.intercept_channel(self._channel, _Call(seen)))  # type: ignore

    return Exporter(
        config.endpoint,
        headers={name.lower(): value for name, value in config.headers.items()},
        timeout=config.timeout_s,
        compression=grpc.Compression.Gzip if config.compression == "gzip" else grpc.Compression.NoCompression,
    )
