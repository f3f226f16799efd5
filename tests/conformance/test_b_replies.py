"""Content types and reply bodies: items 13 to 25."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from typing import Any

import pytest
from google.rpc.status_pb2 import Status

from collector.errors import Forbidden, Unauthenticated
from collector.receive.limits import Limits
from collector.receive.otlp import Principal
from tests.conformance.conftest import Target
from tests.conformance.raw import connection, head, read_reply
from tests.conformance.wires import CONTENT_TYPES, METHODS, RESPONSES, Signal, Wire

MIB = 1 << 20
BAD = b"\xff not a request"


def half_bad(target: Target) -> Any:
    request = target.request("traces", 1, 2)
    request.resource_spans[0].scope_spans[0].spans[1].span_id = b"short"
    return request


@pytest.mark.item(13, 16, 17)
def test_success_partial_success_and_bad_data_in_the_requests_encoding(http_wire: Wire, target: Target) -> None:
    assert http_wire.send(target.request("traces", 1)).code == "OK"  # Wire.read compares the content types
    assert http_wire.send(half_bad(target)).rejected == 1
    for signal in ("traces", "logs"):
        reply = http_wire.send_bytes(BAD, signal)  # type: ignore[arg-type]
        assert reply.code == "INVALID_ARGUMENT"
        assert 0 < len(reply.message.encode()) <= 1024
        assert "Traceback" not in reply.message


@pytest.mark.item(13, 16, 60)
@pytest.mark.own
def test_every_refusal_is_a_status_in_the_requests_encoding(other: Callable[..., Any]) -> None:
    def authorize(token: str | None) -> Principal:
        if token is None:
            raise Unauthenticated("a bearer token is required")
        if token != "good":
            raise Forbidden("this token may not send")
        return Principal()

    with other(Limits(max_request_bytes=MIB), authorize=authorize) as it:
        for kind in CONTENT_TYPES:
            wire = it.wires[kind]
            assert wire.send_bytes(b"").code == "UNAUTHENTICATED"
            wire.headers = {"authorization": "Bearer bad"}
            assert wire.send_bytes(b"").code == "PERMISSION_DENIED"
            wire.headers = {"authorization": "Bearer good"}
            assert wire.send_bytes(bytes(MIB + 1)).code == "RESOURCE_EXHAUSTED"
            it.target.own.spool.max_bytes = 0
            assert wire.send(it.target.request("traces", 1)).code == "UNAVAILABLE"
            it.target.own.spool.max_bytes = 1 << 40


@pytest.mark.item(16)
def test_404_405_415_are_statuses_too(target: Target, http_wire: Wire) -> None:
    for method, path, kind, expected in (
        ("POST", "/v1/nope", "application/x-protobuf", 404),
        ("POST", "/v1/nope", "application/json", 404),
        ("GET", "/v1/traces", "application/x-protobuf", 405),
        ("PUT", "/v1/logs", "", 405),
        ("POST", "/v1/traces", "text/plain", 415),
        ("POST", "/v1/logs", "", 415),
    ):
        with connection(target.http, head(0, path=path, method=method, kind=kind)) as sock:
            status, headers, body = read_reply(sock)
        assert status == expected
        if kind == "application/x-protobuf":
            assert headers["content-type"] == kind
            assert Status.FromString(body).message
        else:
            assert headers["content-type"] == "application/json"
            assert json.loads(body)["message"]


@pytest.mark.item(14)
@pytest.mark.parametrize("kind", ["Application/JSON; charset=UTF-8", "application/json;v=1", "APPLICATION/JSON"])
def test_media_types_in_any_case_with_parameters(http_wire: Wire, target: Target, signal: Signal, kind: str) -> None:
    with connection(target.http, head(2, path=f"/v1/{signal}", kind=kind) + b"{}") as sock:
        assert read_reply(sock)[0] == 200


@pytest.mark.item(15)
@pytest.mark.parametrize("kind", ["", "text/plain", "multipart/form-data; boundary=x", "application/protobufs"])
def test_other_media_types(target: Target, http_wire: Wire, signal: Signal, kind: str) -> None:
    body = http_wire.encode(target.request(signal, 1))
    with connection(target.http, head(len(body), path=f"/v1/{signal}", kind=kind) + body) as sock:
        assert read_reply(sock)[0] == 415
    target.stored(signal)


@pytest.mark.item(18)
def test_bad_data_names_the_field(wire: Wire, target: Target) -> None:
    reply = wire.send(target.request("traces", 1, parent_span_id=b"", span_id=b"short"))
    assert reply.code == "INVALID_ARGUMENT"
    assert any("spanId" in field or "span_id" in field for field in reply.fields)


@pytest.mark.item(19, 20, 21)
def test_success_is_200_with_an_empty_response(http_wire: Wire, target: Target, signal: Signal) -> None:
    reply = http_wire.send(target.request(signal, 1), signal)
    assert reply.http is not None
    assert reply.http.status_code == 200
    if http_wire.kind == "http json":
        assert reply.http.json() == {}
    else:
        assert not RESPONSES[signal].FromString(reply.http.content).HasField("partial_success")


@pytest.mark.item(20)
def test_success_over_grpc_leaves_partial_success_unset(grpc_wire: Wire, target: Target, signal: Signal) -> None:
    raw = grpc_wire.channel.unary_unary(METHODS[signal])(target.request(signal, 1).SerializeToString(), timeout=30)
    assert not RESPONSES[signal].FromString(raw).HasField("partial_success")


@pytest.mark.item(22)
def test_no_compression_that_was_not_asked_for(target: Target, http_wire: Wire) -> None:
    for body in (b"{}", BAD):
        with connection(target.http, head(len(body)) + body) as sock:
            assert "content-encoding" not in read_reply(sock)[1]
        with connection(target.http, head(len(body), "Accept-Encoding: gzip") + body) as sock:
            _, headers, reply = read_reply(sock)
            assert (
                json.loads(gzip.decompress(reply) if headers.get("content-encoding") == "gzip" else reply) is not None
            )


@pytest.mark.item(23)
def test_a_hundred_thousand_rejects_give_a_small_reply(wire: Wire, target: Target) -> None:
    request = target.request("traces", 1)
    spans = request.resource_spans[0].scope_spans[0].spans
    bad = type(spans[0])(trace_id=b"x", name="bad")
    spans.extend([bad] * 100_000)
    reply = wire.send(request)
    assert (reply.code, reply.rejected) == ("OK", 100_000)
    assert len(reply.message) < 4 * MIB
    target.stored("traces", 1)


@pytest.mark.item(24)
@pytest.mark.own
def test_a_reply_over_its_limit_is_shortened_and_keeps_its_count(other: Callable[..., Any]) -> None:
    with other(Limits(max_response_bytes=100)) as it:
        for kind, wire in it.wires.items():
            reply = wire.send(half_bad(it.target))
            assert (kind, reply.code, reply.rejected) == (kind, "OK", 1)
            assert reply.http is None or len(reply.http.content) <= 100


@pytest.mark.item(25)
def test_every_reply_is_framed_completely(target: Target, http_wire: Wire) -> None:
    huge = head(1 << 40)
    for send, expected in (
        (head(2) + b"{}", 200),
        (head(len(BAD)) + BAD, 400),
        (head(0, path="/nope"), 404),
        (head(0, method="GET"), 405),
        (head(0, kind="text/plain"), 415),
        (huge, 413),
    ):
        with connection(target.http, send) as sock:
            assert read_reply(sock)[0] == expected
    with connection(target.http, head(0, method="HEAD") + head(2) + b"{}") as sock:
        assert read_reply(sock, has_body=False)[0] == 405
        assert read_reply(sock)[0] == 200  # nothing stood between the two replies
