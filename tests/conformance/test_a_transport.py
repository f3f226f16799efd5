"""Transport, paths, methods: items 1 to 12."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import httpx
import pytest

from collector.config import Config
from tests.collector.receive.serving import slow_disk
from tests.conformance.conftest import Target
from tests.conformance.raw import connection, head, read_reply
from tests.conformance.wires import METHODS, Signal, Wire

MIB = 1 << 20


@pytest.mark.item(1)
@pytest.mark.parametrize("packed", [False, True])
def test_plain_and_gzip(wire: Wire, target: Target, signal: Signal, packed: bool) -> None:
    assert wire.send(target.request(signal, 1, 2), signal, packed=packed).code == "OK"
    target.stored(signal, 1, 2)


@pytest.mark.item(2)
@pytest.mark.own
def test_default_ports() -> None:
    listen = Config().listen
    assert (listen.grpc, listen.http) == ("127.0.0.1:4317", "127.0.0.1:4318")


@pytest.mark.item(3)
def test_both_encodings_on_one_connection(target: Target) -> None:
    with connection(target.http) as sock:
        for n in range(20):
            wire = Wire(("http json", "http protobuf")[n % 2], target.http, target.grpc)
            body = wire.encode(target.request("traces", n + 1))
            kind = ("application/json", "application/x-protobuf")[n % 2]
            sock.sendall(head(len(body), kind=kind) + body)
            status, headers, _ = read_reply(sock)
            assert (status, headers["content-type"]) == (200, kind)
            wire.close()
    target.stored("traces", *range(1, 21))


@pytest.mark.item(4)
@pytest.mark.parametrize("path", ["/v1/nope", "/", "/v1"])
def test_other_paths(http_wire: Wire, target: Target, path: str) -> None:
    body = http_wire.encode(target.request("traces", 1))
    headers = {"content-type": "application/json"}
    assert http_wire.client.post(target.http + path, content=body, headers=headers).status_code == 404
    target.stored("traces")


@pytest.mark.item(5)
@pytest.mark.parametrize("method", ["GET", "PUT", "HEAD", "DELETE"])
def test_other_methods(http_wire: Wire, target: Target, signal: Signal, method: str) -> None:
    body = http_wire.encode(target.request(signal, 1))
    headers = {"content-type": "application/json"}
    reply = http_wire.client.request(method, f"{target.http}/v1/{signal}", content=body, headers=headers)
    assert (reply.status_code, reply.headers["allow"]) == (405, "POST")
    target.stored(signal)


@pytest.mark.item(6)
def test_http_1_1_kept_and_closed_and_an_http_2_preface(target: Target) -> None:
    for close in ((), ("Connection: close",)):
        with connection(target.http, head(2, *close) + b"{}") as sock:
            assert read_reply(sock)[0] == 200
            if close:
                assert sock.recv(1) == b""
    with connection(target.http, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") as sock:
        while sock.recv(4096):
            pass  # an answer or none, then the end


@pytest.mark.item(7)
def test_grpc_method_names(grpc_wire: Wire, target: Target, signal: Signal) -> None:
    assert grpc_wire.send(target.request(signal, 1), signal).code == "OK"
    for name in (METHODS[signal] + "s", "/Export", "/opentelemetry.proto.collector.trace.v1.TraceService/export"):
        with pytest.raises(grpc.RpcError) as caught:
            grpc_wire.channel.unary_unary(name)(b"", timeout=20)
        assert caught.value.code() == grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.item(8)
@pytest.mark.own
def test_calls_of_one_client_side_by_side(grpc_wire: Wire, target: Target) -> None:
    body = target.request("traces", 1)
    body.resource_spans[0].resource.attributes.add(key="large").value.string_value = "x" * MIB
    raw = body.SerializeToString()
    assert target.own is not None
    with ThreadPoolExecutor(50) as pool, slow_disk(target.own.spool, 0.2):
        started = time.monotonic()
        replies = list(pool.map(lambda _: grpc_wire.send_bytes(raw), range(50)))
        took = time.monotonic() - started
    assert {r.code for r in replies} == {"OK"}
    assert took < 0.5 * 50 * 0.2


@pytest.mark.item(9)
def test_a_hundred_requests_on_one_connection(target: Target) -> None:
    with connection(target.http) as sock:
        for _ in range(100):
            sock.sendall(head(2) + b"{}")
            status, headers, _ = read_reply(sock)
            assert status == 200
            assert headers.get("connection", "keep-alive").lower() != "close"


@pytest.mark.item(10)
def test_chunked_and_expect(http_wire: Wire, target: Target, signal: Signal) -> None:
    body = http_wire.encode(target.request(signal, 1))
    kind = {"http json": "application/json", "http protobuf": "application/x-protobuf"}[http_wire.kind]
    path = f"/v1/{signal}"
    chunked = b"%x\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n" % (3, body[:3], len(body) - 3, body[3:])
    with connection(target.http, head(None, "Transfer-Encoding: chunked", path=path, kind=kind) + chunked) as sock:
        assert read_reply(sock)[0] == 200
    with connection(target.http, head(len(body), "Expect: 100-continue", path=path, kind=kind)) as sock:
        assert sock.recv(12) == b"HTTP/1.1 100"
        while sock.recv(1) != b"\n":
            pass
        assert sock.recv(2) == b"\r\n"
        sock.sendall(body)
        assert read_reply(sock)[0] == 200
    target.stored(signal, 1, 1)


@pytest.mark.item(11)
def test_metrics_are_not_there(http_wire: Wire, target: Target) -> None:
    headers = {"content-type": "application/json"}
    assert http_wire.client.post(f"{target.http}/v1/metrics", content=b"", headers=headers).status_code == 404
    call = http_wire.channel.unary_unary("/opentelemetry.proto.collector.metrics.v1.MetricsService/Export")
    with pytest.raises(grpc.RpcError) as caught:
        call(b"", timeout=20)
    assert caught.value.code() == grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.item(12)
def test_profiles_are_not_there(http_wire: Wire, target: Target) -> None:
    headers: Any = {"content-type": "application/json"}
    body = http_wire.encode(target.request("traces", 1))
    reply: httpx.Response = http_wire.client.post(
        f"{target.http}/v1development/profiles", content=body, headers=headers
    )
    assert reply.status_code == 404
    assert reply.json()["message"]
    target.stored("traces")
