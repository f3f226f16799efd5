"""Size and decompression limits: items 26 to 39."""

from __future__ import annotations

import gzip
import resource
import time
import zlib
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest
import zstandard

from collector.receive.limits import Limits
from tests.collector.receive.build import as_json, field, nested_list, nested_map, span_id, traces
from tests.conformance.conftest import Target
from tests.conformance.raw import connection, head, read_reply
from tests.conformance.wires import Signal, Wire

MIB = 1 << 20
CODECS: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "zstd": zstandard.compress}


def sized(target: Target, size: int) -> Any:
    request = target.request("traces", 1)
    request.resource_spans[0].resource.attributes.add(key="large").value.string_value = "x" * size
    return request


def bomb(coding: str, mib: int) -> bytes:
    """Zeros, packed: members of 40 MiB each, as many as it takes."""
    packer: Any = zlib.compressobj(9, wbits=31) if coding == "gzip" else zstandard.ZstdCompressor().compressobj()
    member = b"".join([packer.compress(bytes(4 * MIB)) for _ in range(10)] + [packer.flush()])
    return member * (mib // 40)


def grown_mib(before: int) -> float:
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


@pytest.mark.item(26)
def test_grpc_takes_messages_over_4_mib(grpc_wire: Wire, target: Target) -> None:
    assert grpc_wire.send(sized(target, 5 * MIB)).code == "OK"
    assert grpc_wire.send(sized(target, 5 * MIB), packed=True).code == "OK"


@pytest.mark.item(26, 27, 28)
@pytest.mark.own
@pytest.mark.parametrize("packed", [False, True])
def test_grpc_refuses_what_is_over_the_limit_for_good(other: Callable[..., Any], packed: bool) -> None:
    with other(Limits(max_request_bytes=MIB)) as it:
        grpc_wire = it.wires["grpc"]
        assert grpc_wire.send(sized(it.target, MIB - 300), packed=packed).code == "OK"
        reply = grpc_wire.send(sized(it.target, MIB), packed=packed)
        assert (reply.code, reply.retry_s) == ("RESOURCE_EXHAUSTED", None)
        it.target.stored("traces", 1)


@pytest.mark.item(26, 28, 31)
@pytest.mark.own
def test_a_grpc_bomb_takes_no_memory(grpc_wire: Wire) -> None:
    packed = bomb("gzip", 6 << 10)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    reply = grpc_wire.send_bytes(packed)
    assert (reply.code, reply.retry_s) == ("RESOURCE_EXHAUSTED", None)
    assert grown_mib(before) < 100


@pytest.mark.item(29, 36)
@pytest.mark.own
def test_http_refuses_what_is_over_the_limit(other: Callable[..., Any]) -> None:
    with other(Limits(max_request_bytes=MIB)) as it:
        for kind in ("http json", "http protobuf"):
            wire = it.wires[kind]
            body = wire.encode(sized(it.target, MIB))
            assert wire.send_bytes(body).code == "RESOURCE_EXHAUSTED"
            for coding, pack in CODECS.items():
                wire.headers = {"content-encoding": coding}
                assert wire.send_bytes(pack(body)).code == "RESOURCE_EXHAUSTED"
                assert wire.send_bytes(pack(wire.encode(sized(it.target, MIB // 2)))).code == "OK"
            wire.headers = {}
        chunk = b"%x\r\n%s\r\n" % (MIB // 4, b" " * (MIB // 4))
        with connection(it.target.http, head(None, "Transfer-Encoding: chunked") + chunk * 5) as sock:
            assert read_reply(sock)[0] == 413


@pytest.mark.item(30)
def test_a_declared_length_is_refused_before_the_body(target: Target, signal: Signal) -> None:
    with connection(target.http, head(1 << 40, path=f"/v1/{signal}")) as sock:
        started = time.monotonic()
        assert read_reply(sock)[0] == 413
        assert time.monotonic() - started < 5


@pytest.mark.item(31, 36)
@pytest.mark.own
@pytest.mark.parametrize("coding", CODECS)
def test_a_few_mib_that_inflate_to_six_gib(http_wire: Wire, coding: str) -> None:
    packed = bomb(coding, 6 << 10)
    assert len(packed) < 6.5 * MIB
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.monotonic()
    http_wire.headers = {"content-encoding": coding}
    assert http_wire.send_bytes(packed).code == "RESOURCE_EXHAUSTED"
    assert time.monotonic() - started < 2
    assert grown_mib(before) < 100


@pytest.mark.item(32)
def test_gzip_members_and_junk_behind_them(target: Target, http_wire: Wire) -> None:
    body = http_wire.encode(target.request("traces", 1))
    http_wire.headers = {"content-encoding": "gzip"}
    assert http_wire.send_bytes(gzip.compress(body[:20]) + gzip.compress(body[20:])).code == "OK"
    assert http_wire.send_bytes(gzip.compress(body) + b"junk").code == "INVALID_ARGUMENT"
    target.stored("traces", 1)


@pytest.mark.item(33)
def test_damaged_gzip(target: Target, wire: Wire) -> None:
    packed = gzip.compress(wire.encode(target.request("traces", 1)))
    wire.headers = {} if wire.kind == "grpc" else {"content-encoding": "gzip"}
    flipped = packed[:-20] + bytes([packed[-20] ^ 0xFF]) + packed[-19:]
    wrong_crc = packed[:-8] + bytes(4) + packed[-4:]
    for damaged in (flipped, packed[: len(packed) // 2], wrong_crc):
        assert wire.send_bytes(damaged).code == "INVALID_ARGUMENT"
    target.stored("traces")


@pytest.mark.item(34)
def test_content_encodings_that_are_not_offered(target: Target, http_wire: Wire) -> None:
    body = http_wire.encode(target.request("traces", 1))
    http_wire.headers = {"content-encoding": "br"}
    assert http_wire.send_bytes(body).code in ("INVALID_ARGUMENT", "HTTP 415")
    http_wire.headers = {"content-encoding": "identity"}
    assert http_wire.send_bytes(body).code == "OK"
    target.stored("traces", 1)


@pytest.mark.item(35)
def test_stacked_content_encodings(target: Target, http_wire: Wire) -> None:
    http_wire.headers = {"content-encoding": "gzip, gzip"}
    body = gzip.compress(gzip.compress(http_wire.encode(target.request("traces", 1))))
    assert http_wire.send_bytes(body).code == "INVALID_ARGUMENT"
    target.stored("traces")


@pytest.mark.item(36)
def test_zstd(target: Target, http_wire: Wire, signal: Signal) -> None:
    http_wire.headers = {"content-encoding": "zstd"}
    assert http_wire.send_bytes(zstandard.compress(http_wire.encode(target.request(signal, 1))), signal).code == "OK"
    target.stored(signal, 1)


def nested_request(wire: Wire, target: Target, nested: tuple[bytes, Any]) -> bytes:
    raw, shown = nested
    if wire.kind == "http json":
        root: Any = {"traceId": target.trace_id.hex(), "spanId": span_id(1).hex(), "name": "span 1"}
        depth = _text_of(shown)
        body = as_json(traces()).replace(b'"scope": {"name": "tests"}', b'"spans": [@]')
        text = (
            f'{{"traceId":"{root["traceId"]}","spanId":"{root["spanId"]}","name":"span 1",'
            f'"attributes":[{{"key":"deep","value":{depth}}}]}}'
        )
        return body.replace(b"@", text.encode())
    one = target.request("traces", 1).resource_spans[0].scope_spans[0].spans[0].SerializeToString()
    return field(1, field(2, field(2, one + field(9, field(1, b"deep") + field(2, raw)))))


def _text_of(shown: Any) -> str:
    """JSON of any depth; json.dumps does not go as deep."""
    opened, closed = [], []
    while "stringValue" not in shown:
        if "arrayValue" in shown:
            opened.append('{"arrayValue":{"values":[')
            closed.append("]}}")
            shown = shown["arrayValue"]["values"][0]
        else:
            opened.append('{"kvlistValue":{"values":[{"key":"k","value":')
            closed.append("}]}}")
            shown = shown["kvlistValue"]["values"][0]["value"]
    return "".join(opened) + '{"stringValue":"deep"}' + "".join(reversed(closed))


@pytest.mark.item(37)
@pytest.mark.parametrize("depth", [10, 40, 51, 200, 5000, 10_000])
def test_nesting(wire: Wire, target: Target, depth: int) -> None:
    reply = wire.send_bytes(nested_request(wire, target, nested_list(depth)))
    assert reply.code == ("OK" if depth <= 40 else "INVALID_ARGUMENT")
    if depth > 40:
        assert wire.send_bytes(nested_request(wire, target, nested_map(depth))).code == "INVALID_ARGUMENT"
    assert wire.send(target.request("traces", 2)).code == "OK"  # alive
    target.stored("traces", *([1, 2] if depth <= 40 else [2]))


@pytest.mark.item(38, 44)
@pytest.mark.own
def test_what_is_over_a_limit_is_counted_and_marked(other: Callable[..., Any]) -> None:
    with other(Limits(max_records=3, max_attributes=5, max_value_bytes=100)) as it:
        for kind, wire in it.wires.items():
            reply = wire.send(it.target.request("traces", 1, 2, 3, 4, 5))
            assert (kind, reply.code, reply.rejected) == (kind, "OK", 2)
            request = it.target.request("traces", 6)
            for n in range(7):
                request.resource_spans[0].scope_spans[0].spans[0].attributes.add(key=str(n)).value.string_value = "x"
            request.resource_spans[0].scope_spans[0].spans[0].attributes[1].value.string_value = "y" * 200
            reply = wire.send(request)
            assert (reply.code, reply.rejected) == ("OK", 0)
            assert "truncated" in reply.message
        cut = it.target.spans()[-1]
        assert cut.attributes["1"] == "y" * 100
        assert cut.dropped_attributes == 2
        assert len(cut.attributes["passhat.repaired"]) == 2
        assert it.target.own.count("refused", signal="traces", reason="too_many") == 6
        assert it.target.own.count("repaired", reason="truncated") == 6


@pytest.mark.item(39)
def test_two_hundred_slow_clients_hold_nobody_up(wire: Wire, target: Target) -> None:
    with ExitStack() as stack:
        for n in range(200):
            stack.enter_context(connection(target.http, head(1000)[: None if n % 2 else 30] + b"{"))
        started = time.monotonic()
        assert wire.send(target.request("traces", 1)).code == "OK"
        assert time.monotonic() - started < 5


@pytest.mark.item(39)
@pytest.mark.own
def test_a_slow_body_ends(other: Callable[..., Any]) -> None:
    with other(Limits(read_timeout_s=1.0)) as it, connection(it.target.http, head(100) + b"{") as sock:
        started = time.monotonic()
        assert read_reply(sock)[0] == 503
        assert time.monotonic() - started < 3
