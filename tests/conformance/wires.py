"""The three ways to send an export request, behind one face, and what came back in words common to all."""

from __future__ import annotations

import gzip
import json
from typing import Any, Literal

import grpc
import httpx
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from msgspec import Struct
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from tests.collector.receive.build import as_json

Signal = Literal["traces", "logs"]
KINDS = ("grpc", "http protobuf", "http json")
METHODS: dict[Signal, str] = {
    "traces": "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
    "logs": "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
}
RESPONSES: dict[Signal, Any] = {"traces": ExportTraceServiceResponse, "logs": ExportLogsServiceResponse}
REJECTED: dict[Signal, str] = {"traces": "rejected_spans", "logs": "rejected_log_records"}
CONTENT_TYPES = {"http protobuf": "application/x-protobuf", "http json": "application/json"}
GRPC_OF_HTTP = {
    200: "OK",
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    413: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}


class Reply(Struct, frozen=True):
    """`code` is the gRPC word for either transport; `retry_s` is None without a hint."""

    code: str
    message: str = ""
    rejected: int = 0
    retry_s: int | None = None
    status: Any = None  # google.rpc.Status, or its JSON
    http: httpx.Response | None = None

    @property
    def fields(self) -> list[str]:
        """The fields that a BadRequest in it names."""
        if isinstance(self.status, dict):
            found = [v for d in self.status["details"] for v in d.get("fieldViolations", [])]
            return [v["field"] for v in found]
        from google.rpc.error_details_pb2 import BadRequest

        names: list[str] = []
        for detail in self.status.details if self.status is not None else ():
            unpacked = BadRequest()
            if detail.Unpack(unpacked):
                names += [v.field for v in unpacked.field_violations]
        return names


class Wire:
    """One client of one kind, with one connection."""

    def __init__(self, kind: str, http: str, grpc_target: str, headers: dict[str, str] | None = None) -> None:
        self.kind = kind
        self.http = http
        self.headers = headers or {}
        options = [("grpc.max_send_message_length", -1), ("grpc.use_local_subchannel_pool", 1)]
        self.channel = grpc.insecure_channel(grpc_target, options=options)
        self.client = httpx.Client(timeout=60, trust_env=False)

    def close(self) -> None:
        self.channel.close()
        self.client.close()

    def encode(self, request: Any) -> bytes:
        """The request in this wire's encoding."""
        return as_json(request) if self.kind == "http json" else bytes(request.SerializeToString())

    def send(self, request: Any, signal: Signal = "traces", *, packed: bool = False) -> Reply:
        """Sends a request; `packed` with gzip."""
        return self.send_bytes(self.encode(request), signal, packed=packed)

    def send_bytes(self, body: bytes, signal: Signal = "traces", *, packed: bool = False) -> Reply:
        """Sends bytes as they are."""
        if self.kind == "grpc":
            return self._call(body, signal, packed)
        headers = {"content-type": CONTENT_TYPES[self.kind], **self.headers}
        if packed:
            body, headers["content-encoding"] = gzip.compress(body), "gzip"
        return self.read(self.client.post(f"{self.http}/v1/{signal}", content=body, headers=headers), signal)

    def read(self, reply: httpx.Response, signal: Signal) -> Reply:
        """An HTTP reply in common words; fails when it does not speak the request's encoding."""
        assert reply.headers["content-type"] == CONTENT_TYPES[self.kind]
        code = GRPC_OF_HTTP.get(reply.status_code, f"HTTP {reply.status_code}")
        hint = reply.headers.get("retry-after")
        retry_s = None if hint is None else int(hint)
        if reply.status_code != 200:
            status = reply.json() if self.kind == "http json" else Status.FromString(reply.content)
            message = status["message"] if isinstance(status, dict) else status.message
            return Reply(code, message, 0, retry_s, status, reply)
        if self.kind == "http json":
            partial = json.loads(reply.content).get("partialSuccess", {})
            rejected = partial.get("rejectedSpans", partial.get("rejectedLogRecords", "0"))
            assert isinstance(rejected, str), "64-bit numbers are text in JSON"
            return Reply(code, partial.get("errorMessage", ""), int(rejected), retry_s, None, reply)
        found = RESPONSES[signal].FromString(reply.content).partial_success
        return Reply(code, found.error_message, getattr(found, REJECTED[signal]), retry_s, None, reply)

    def _call(self, body: bytes, signal: Signal, packed: bool) -> Reply:
        call = self.channel.unary_unary(METHODS[signal])
        try:
            raw = call(
                body,
                timeout=60,
                compression=grpc.Compression.Gzip if packed else None,
                metadata=tuple(self.headers.items()),
            )
        except grpc.RpcError as error:
            return _of_error(error)
        found = RESPONSES[signal].FromString(raw).partial_success
        return Reply("OK", found.error_message, getattr(found, REJECTED[signal]))


def _of_error(error: Any) -> Reply:
    trailers = dict(error.trailing_metadata() or ())
    raw = trailers.get("grpc-status-details-bin")
    hint = trailers.get("google.rpc.retryinfo-bin")
    retry_s = None if hint is None else RetryInfo.FromString(hint).retry_delay.seconds
    status = None if raw is None else Status.FromString(raw)
    return Reply(error.code().name, error.details() or "", 0, retry_s, status)
