"""Replies, in the request's own encoding: export responses, and google.rpc.Status for everything else."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import orjson
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc.error_details_pb2 import BadRequest, RetryInfo
from google.rpc.status_pb2 import Status
from msgspec import Struct

from collector.errors import BadData, PermanentError, RetryableError
from collector.journal import Signal
from collector.receive.check import SHAPES
from collector.receive.findings import Findings

Encoding: TypeAlias = Literal["protobuf", "json"]
CONTENT_TYPES: dict[Encoding, str] = {"protobuf": "application/x-protobuf", "json": "application/json"}
MESSAGE_BYTES = 1024
CODES = {
    "OK": 0,
    "INVALID_ARGUMENT": 3,
    "PERMISSION_DENIED": 7,
    "RESOURCE_EXHAUSTED": 8,
    "UNIMPLEMENTED": 12,
    "UNAVAILABLE": 14,
    "UNAUTHENTICATED": 16,
}
TYPE_URL = "type.googleapis.com/"


class Reply(Struct, frozen=True):
    """What goes back, for either transport: `body` is the export response or the Status, in the request's encoding."""

    http_status: int
    grpc_code: str
    body: bytes
    encoding: Encoding
    message: str = ""
    retry_after_s: int = 0


def success(signal: Signal, encoding: Encoding, findings: Findings, max_bytes: int) -> Reply:
    """Accepted; a partial success when something was refused, a warning (none rejected) when something was repaired.

    The message is cut so that the reply stays in its limit, the count never is.
    """
    message = cut(findings.explain() if findings.refused else findings.warn(), MESSAGE_BYTES)
    body = _response(signal, encoding, findings.refused_count, message)
    while len(body) > max_bytes and message:
        message = message[: len(message) // 2]
        body = _response(signal, encoding, findings.refused_count, message)
    return Reply(200, "OK", body, encoding, message)


def _response(signal: Signal, encoding: Encoding, refused: int, message: str) -> bytes:
    shape = SHAPES[signal]
    response = shape.response()
    if refused or message:
        setattr(response.partial_success, shape.rejected, refused)
        response.partial_success.error_message = message
    if encoding == "protobuf":
        return bytes(response.SerializeToString())
    if not refused and not message:
        return b"{}"
    partial = {shape.json_rejected: str(refused), "errorMessage": message}
    return orjson.dumps({"partialSuccess": partial})


def failure(error: PermanentError | RetryableError, encoding: Encoding) -> Reply:
    """Refused as a whole."""
    message = cut(str(error), MESSAGE_BYTES)
    retry_after_s = error.retry_after_s if isinstance(error, RetryableError) else 0
    code = CODES[error.grpc_code]
    body = status(code, message, _details(error, message, retry_after_s), encoding)
    return Reply(error.http_status, error.grpc_code, body, encoding, message, retry_after_s)


def _details(error: PermanentError | RetryableError, message: str, retry_after_s: int) -> list[Any]:
    if retry_after_s:
        return [retry_info(retry_after_s)]
    if isinstance(error, BadData):
        violation = BadRequest.FieldViolation(field=cut(error.field, MESSAGE_BYTES), description=message)
        return [BadRequest(field_violations=[violation])]
    return []


def retry_info(seconds: int) -> RetryInfo:
    """When to try again. Stock Python exporters look for it in a metadata key of its own."""
    info = RetryInfo()
    info.retry_delay.seconds = seconds
    return info


def status(code: int, message: str, details: list[Any], encoding: Encoding) -> bytes:
    """A google.rpc.Status, serialized."""
    if encoding == "protobuf":
        packed = [AnyMessage(type_url=TYPE_URL + d.DESCRIPTOR.full_name, value=d.SerializeToString()) for d in details]
        return bytes(Status(code=code, message=message, details=packed).SerializeToString())
    return orjson.dumps({"code": code, "message": message, "details": [_json(detail) for detail in details]})


def _json(detail: BadRequest | RetryInfo) -> dict[str, Any]:
    shown: dict[str, Any] = {"@type": TYPE_URL + detail.DESCRIPTOR.full_name}
    if isinstance(detail, RetryInfo):
        return shown | {"retryDelay": f"{detail.retry_delay.seconds}s"}
    return shown | {
        "fieldViolations": [{"field": v.field, "description": v.description} for v in detail.field_violations]
    }


def cut(text: str, max_bytes: int) -> str:
    """At most `max_bytes` of UTF-8."""
    return text.encode()[:max_bytes].decode("utf-8", "ignore")
