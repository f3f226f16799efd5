"""OTLP/HTTP on a live listener: what is special to HTTP. The protocol as a whole is in tests/conformance."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import zstandard
from google.rpc.status_pb2 import Status

from collector.errors import Unauthenticated
from collector.receive import slow_clients
from collector.receive.limits import Limits
from collector.receive.otlp import Principal
from tests.collector.receive.build import as_json, log, logs, span, traces
from tests.collector.receive.serving import JSON, PROTOBUF, Listeners, listening
from tests.support.apart import apart
from tests.support.serving import until

MIB = 1 << 20
BODY = as_json(traces(span(1)))


@contextmanager
def connection(listeners: Listeners, send: bytes = b"") -> Iterator[socket.socket]:
    host, port = listeners.http.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as sock:
        sock.sendall(send)
        yield sock


def head(length: int | None, *more: str, path: str = "/v1/traces", method: str = "POST", kind: str = JSON) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: x", f"Content-Type: {kind}", *more]
    if length is not None:
        lines.append(f"Content-Length: {length}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def read_reply(sock: socket.socket) -> tuple[int, dict[str, str], bytes]:
    """One whole reply by its own framing; nothing more may be needed."""
    file = sock.makefile("rb", buffering=0)
    status = int(file.readline().split()[1])
    headers = {}
    while line := file.readline().strip():
        name, _, value = line.partition(b":")
        headers[name.decode().lower()] = value.strip().decode()
    return status, headers, file.read(int(headers["content-length"]))


@pytest.mark.parametrize("path", ["/v1/traces", "/api/public/otel/v1/traces", "//v1/traces", "/v1/traces?key=1"])
def test_any_path_that_ends_like_the_signal_is_served(listeners: Listeners, path: str) -> None:
    assert listeners.post(path, BODY).status_code == 200
    assert len(listeners.spans()) == 1


def test_logs_have_their_own_path(listeners: Listeners) -> None:
    assert listeners.post("/v1/logs", as_json(logs(log("text")))).status_code == 200
    assert listeners.logs()[0].body == "text"


@pytest.mark.parametrize("path", ["/", "/v1/nope", "/v1/traces/", "/v1/metrics", "/v1development/profiles", "/docs"])
def test_other_paths_are_not_there(listeners: Listeners, path: str) -> None:
    reply = listeners.post(path, BODY)
    assert (reply.status_code, reply.headers["content-type"]) == (404, JSON)
    assert "/v1/traces" in reply.json()["message"]


@pytest.mark.parametrize(
    ("path", "method", "kind", "reason"),
    [("/", "POST", JSON, "not_served"), ("/v1/metrics", "POST", JSON, "not_served"),
     ("/v1/trace", "POST", PROTOBUF, "not_served"), ("/v1/traces", "PUT", JSON, "method_not_allowed"),
     ("/v1/traces", "POST", "text/plain", "unsupported_media")],
)  # fmt: skip
def test_what_goes_to_the_wrong_place_is_counted_and_said_once(
    listeners: Listeners, caplog: pytest.LogCaptureFixture, path: str, method: str, kind: str, reason: str
) -> None:
    def refused() -> float:
        return sum(
            sample.value
            for metric in listeners.metrics.refused.collect()
            for sample in metric.samples
            if sample.name.endswith("_total") and sample.labels["reason"] == reason
        )

    before = refused()
    for _ in range(3):
        httpx.request(method, f"{listeners.http}{path}", content=BODY, headers={"content-type": kind}, trust_env=False)
    assert refused() == before + 3
    assert sum(reason in record.getMessage() for record in caplog.records) <= 1
    assert any(client.last_reason == reason for client in listeners.receiver.clients.seen())


def test_a_probe_of_another_path_is_no_refused_export(listeners: Listeners) -> None:
    seen = str(listeners.receiver.clients.seen())
    assert httpx.get(f"{listeners.http}/robots.txt", trust_env=False).status_code == 404
    assert str(listeners.receiver.clients.seen()) == seen


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "TRACE"])
def test_other_methods_are_not_allowed(listeners: Listeners, method: str) -> None:
    with httpx.Client(trust_env=False) as client:
        reply = client.request(method, f"{listeners.http}/v1/traces")
    assert (reply.status_code, reply.headers["allow"]) == (405, "POST")
    assert method == "HEAD" or reply.json()["message"]


PACK: dict[str, Any] = {"gzip": gzip.compress, "zstd": zstandard.compress, "identity": bytes}


@pytest.mark.parametrize("coding", PACK)
def test_content_encodings(listeners: Listeners, coding: str) -> None:
    for kind, body in ((JSON, BODY), (PROTOBUF, traces(span(1)).SerializeToString())):
        assert listeners.post("/v1/traces", PACK[coding](body), kind, content_encoding=coding).status_code == 200
    assert len(listeners.spans()) == 2


@pytest.mark.parametrize(
    ("coding", "body", "status"),
    [
        ("gzip", BODY, 400),
        ("zstd", BODY, 400),
        ("gzip", gzip.compress(BODY)[:-4], 400),
        ("gzip", gzip.compress(BODY) + b"tail", 400),
        ("gzip", b"", 400),
        ("br", BODY, 415),
        ("deflate", zlib.compress(BODY), 415),
        ("gzip, gzip", gzip.compress(gzip.compress(BODY)), 400),
    ],
)
def test_broken_content_encodings_are_permanent_errors(
    listeners: Listeners, coding: str, body: bytes, status: int
) -> None:
    reply = listeners.post("/v1/traces", body, content_encoding=coding)
    assert (reply.status_code, reply.headers["content-type"]) == (status, JSON)
    assert reply.json()["message"]


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "Application/JSON", "application/json;v=1"])
def test_media_types_with_parameters(listeners: Listeners, kind: str) -> None:
    assert listeners.post("/v1/traces", BODY, kind).status_code == 200


@pytest.mark.parametrize("kind", ["", "text/plain", "multipart/form-data; boundary=x", "application/protobuf"])
def test_other_media_types_are_refused(listeners: Listeners, kind: str) -> None:
    reply = listeners.post("/v1/traces", BODY, kind)
    assert (reply.status_code, reply.headers["content-type"]) == (415, JSON)
    assert listeners.count("refused", signal="traces", reason="unsupported_media") == 1


def test_replies_speak_the_requests_encoding(tmp_path: Path) -> None:
    def authorize(token: str | None) -> Principal:
        if token != "good":
            raise Unauthenticated("a bearer token is required")
        return Principal()

    with listening(tmp_path, Limits(max_request_bytes=1000), authorize=authorize) as listeners:
        good = {"authorization": "bearer good"}
        for kind, body in ((JSON, BODY), (PROTOBUF, traces(span(1)).SerializeToString())):
            for status, payload, headers in (
                (200, body, good),
                (400, b"\xff", good),
                (401, body, {}),
                (401, body, {"authorization": "Basic good"}),
                (413, bytes(2000), good),
            ):
                reply = listeners.post("/v1/traces", payload, kind, **headers)
                assert (reply.status_code, reply.headers["content-type"]) == (status, kind)
                if status != 200:
                    shown = Status.FromString(reply.content).message if kind == PROTOBUF else reply.json()["message"]
                    assert shown
                assert ("www-authenticate" in reply.headers) == (status == 401)
        listeners.spool.max_bytes = 0
        reply = listeners.post("/v1/traces", traces(span(1)).SerializeToString(), PROTOBUF, **good)
        assert (reply.status_code, reply.headers["retry-after"], reply.headers["content-type"]) == (503, "1", PROTOBUF)


def test_a_declared_length_over_the_limit_is_refused_before_the_body(listeners: Listeners) -> None:
    with connection(listeners, head(65 * MIB)) as sock:
        status, _, body = read_reply(sock)
    assert status == 413
    assert str(64 * MIB) in json.loads(body)["message"]


def test_an_unauthenticated_client_is_answered_before_its_body_is_read(tmp_path: Path) -> None:
    def authorize(token: str | None) -> Principal:
        raise Unauthenticated("a bearer token is required")

    opening = head(None, "Transfer-Encoding: chunked", "Content-Encoding: gzip")
    with listening(tmp_path, authorize=authorize) as listeners, connection(listeners, opening) as sock:
        assert read_reply(sock)[0] == 401


@pytest.mark.parametrize("size", [MIB - 200, MIB + 1])
def test_a_chunked_body_counts_like_any_other(tmp_path: Path, size: int) -> None:
    request = traces(span(1, {"k": "x" * (size - len(traces(span(1, {"k": ""})).SerializeToString()))}))
    body = request.SerializeToString()
    with listening(tmp_path, Limits(max_request_bytes=MIB)) as listeners, httpx.Client(trust_env=False) as client:
        chunks = (body[i : i + 10_000] for i in range(0, len(body), 10_000))
        reply = client.post(f"{listeners.http}/v1/traces", content=chunks, headers={"content-type": PROTOBUF})
        assert reply.status_code == (200 if len(body) <= MIB else 413)
        assert len(listeners.spans()) == (1 if len(body) <= MIB else 0)


def test_expect_100_continue(listeners: Listeners) -> None:
    with connection(listeners, head(len(BODY), "Expect: 100-continue")) as sock:
        assert sock.recv(25) == b"HTTP/1.1 100 Continue\r\n\r\n"
        sock.sendall(BODY)
        assert read_reply(sock)[0] == 200
    with connection(listeners, head(65 * MIB, "Expect: 100-continue")) as sock:
        assert read_reply(sock)[0] == 413


def test_a_client_that_sends_on_after_its_refusal_reads_it(listeners: Listeners) -> None:
    with connection(listeners, head(80 * MIB)) as sock:
        sent = threading.Thread(target=lambda: [sock.sendall(bytes(MIB)) for _ in range(80)])
        sent.start()
        assert read_reply(sock)[0] == 413
        sent.join(30)
        assert not sent.is_alive()
        sock.sendall(head(len(BODY)) + BODY)  # and may use the connection again
        assert read_reply(sock)[0] == 200


def test_many_requests_on_one_connection(listeners: Listeners) -> None:
    with connection(listeners) as sock:
        for _ in range(50):
            sock.sendall(head(len(BODY)) + BODY)
            status, headers, _ = read_reply(sock)
            assert (status, headers.get("connection")) == (200, None)
    assert len(listeners.spans()) == 50


def test_a_slow_body_is_refused_in_time_and_holds_nobody_up(tmp_path: Path) -> None:
    opening = head(100) + b"{"
    with listening(tmp_path, Limits(read_timeout_s=0.5)) as listeners, connection(listeners, opening) as sock:
        assert listeners.post("/v1/traces", BODY).status_code == 200
        status, headers, _ = read_reply(sock)
        assert (status, headers["retry-after"]) == (503, "1")


def test_a_hundred_slow_clients_hold_nobody_up(listeners: Listeners) -> None:
    open_ones = []
    try:
        for i in range(100):
            context = connection(listeners, head(100)[: 20 + i] if i % 2 else head(100) + b"{")
            open_ones.append(context)
            context.__enter__()
        started = time.monotonic()
        assert listeners.post("/v1/traces", BODY).status_code == 200
        assert time.monotonic() - started < 15
    finally:
        for context in open_ones:
            context.__exit__(None, None, None)


def test_a_slow_header_is_cut_off(listeners: Listeners, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slow_clients, "HEADER_S", 0.3)
    for opening in (b"", b"POST /v1/traces HT"):
        with connection(listeners, opening) as sock:
            assert sock.recv(1) == b""
    with connection(listeners, head(len(BODY)) + BODY) as sock:
        assert read_reply(sock)[0] == 200
        sock.sendall(b"POST /v1")  # the second request of a connection has the same bound
        assert sock.recv(1) == b""


def test_a_huge_header_is_refused(listeners: Listeners) -> None:
    with connection(listeners, b"POST /v1/traces HTTP/1.1\r\nX: ") as sock:
        for _ in range(10):
            sock.sendall(b"x" * 10_000)
        assert read_reply(sock)[0] == 431


@pytest.mark.parametrize("opening", [b"\x00\x01\x02\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET\r\n\r\n"])
def test_what_is_not_http_is_answered_and_closed(listeners: Listeners, opening: bytes) -> None:
    with connection(listeners, opening) as sock:
        status, headers, body = read_reply(sock)
        assert (status, headers["content-type"]) == (400, JSON)
        assert json.loads(body)["message"]
        assert sock.recv(1) == b""


def test_an_offer_to_upgrade_is_passed_over(listeners: Listeners) -> None:
    """Java's HTTP client offers h2c with every first request."""
    offer = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA")
    with connection(listeners) as sock:
        for _ in range(2):
            sock.sendall(head(len(BODY), *offer) + BODY)
            assert read_reply(sock)[0] == 200
        sock.sendall(head(len(BODY), *offer) + BODY[:9])
        sock.sendall(BODY[9:] + head(len(BODY)) + BODY)
        assert [read_reply(sock)[0] for _ in range(2)] == [200, 200]
        sock.sendall(head(0, "Connection: Upgrade", "Upgrade: websocket", method="GET"))
        assert read_reply(sock)[0] == 405
    assert len(listeners.spans()) == 4


def test_a_client_that_hangs_up_leaves_nothing_behind(listeners: Listeners) -> None:
    for _ in range(20):
        with connection(listeners, head(1000) + b'{"resourceSpans":['):
            pass
    assert listeners.post("/v1/traces", BODY).status_code == 200
    deadline = time.monotonic() + 5
    capacity = listeners.receiver.limits.inflight_bytes
    while listeners.receiver.in_flight._free != capacity:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert len(listeners.spans()) == 1
    until(lambda: listeners.count("refused", signal="none", reason="unfinished"), lambda counted: counted == 20)


def test_bytes_in_flight_are_bounded(tmp_path: Path) -> None:
    with listening(tmp_path, Limits(inflight_bytes=MIB, inflight_wait_s=0.1)) as listeners:
        big = head(900_000) + bytes(800_000)
        with connection(listeners, big) as sock:
            deadline = time.monotonic() + 5
            while listeners.receiver.in_flight._free > 300_000:
                assert time.monotonic() < deadline
                time.sleep(0.01)
            reply = listeners.post("/v1/traces", b" " * 500_000 + BODY)
            assert (reply.status_code, reply.headers["retry-after"]) == (503, "1")
            assert listeners.post("/v1/traces", BODY).status_code == 200
            sock.close()
        deadline = time.monotonic() + 5
        while listeners.post("/v1/traces", b" " * 500_000 + BODY).status_code != 200:
            assert time.monotonic() < deadline


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_a_bomb_is_refused_without_its_memory(listeners: Listeners, tmp_path: Path, coding: str) -> None:
    packer: Any = zlib.compressobj(9, wbits=31) if coding == "gzip" else zstandard.ZstdCompressor().compressobj()
    bomb = b"".join([packer.compress(b" " * MIB) for _ in range(300)] + [packer.flush()])
    assert listeners.post("/v1/traces", bomb, content_encoding=coding).status_code == 413
    with apart(tmp_path / "apart") as receiver:
        url, kind = f"{receiver.http}/v1/traces", {"content-type": JSON}
        assert httpx.post(url, content=BODY, headers=kind).status_code == 200
        before = receiver.peak_mib()
        refused = httpx.post(url, content=bomb, headers={**kind, "content-encoding": coding}, timeout=30)
        assert refused.status_code == 413
        assert receiver.peak_mib() - before < 100
    assert listeners.count("refused", signal="traces", reason="too_large") == 1
