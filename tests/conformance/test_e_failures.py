"""Failures, throttling, retry hints: items 48 to 60."""

from __future__ import annotations

import gzip
import os
import threading
import time
from collections.abc import Callable
from typing import Any

import grpc
import pytest

from collector import errors
from collector.errors import Forbidden, PermanentError, RetryableError, Unauthenticated
from collector.receive.limits import Limits
from collector.receive.otlp import Principal
from tests.collector.receive.serving import slow_disk
from tests.collector.receive.test_exporters import EXPORTERS, key, made_spans
from tests.conformance.conftest import Target
from tests.conformance.wires import METHODS, Signal, Wire

RETRYABLE_GRPC = {"CANCELLED", "DEADLINE_EXCEEDED", "ABORTED", "OUT_OF_RANGE", "UNAVAILABLE", "DATA_LOSS"}
RETRYABLE_HTTP = {429, 502, 503, 504}


@pytest.mark.item(48, 51, 52, 53)
@pytest.mark.own
def test_a_spool_that_cannot_be_written_asks_for_a_retry(other: Callable[..., Any]) -> None:
    def no_disk(rows: Any) -> None:
        raise OSError(5, "Input/output error")

    with other() as it:
        commit = it.target.own.spool._journal.append
        for wire in it.wires.values():
            it.target.own.spool._journal.append = no_disk
            reply = wire.send(it.target.request("traces", 1))
            assert (reply.code, reply.retry_s) == ("UNAVAILABLE", 1)
            assert reply.http is None or reply.http.status_code in RETRYABLE_HTTP
            it.target.own.spool._journal.append = commit
            deadline = time.monotonic() + 10
            while wire.send(it.target.request("traces", 2)).code != "OK":
                assert time.monotonic() < deadline
        it.target.stored("traces", 2, 2, 2)


@pytest.mark.item(49, 55)
@pytest.mark.parametrize("body", [os.urandom(200), b"\x0a", b"\x0a\xff\xff", b"\x0a\x05abc", b"\x80" * 11])
def test_bytes_that_are_no_request(wire: Wire, target: Target, signal: Signal, body: bytes) -> None:
    assert wire.send_bytes(b"\xff" + body, signal).code == "INVALID_ARGUMENT"
    if wire.kind != "http json":
        assert wire.send_bytes(wire.encode(target.request(signal, 1))[:-2], signal).code == "INVALID_ARGUMENT"
    target.stored(signal)


@pytest.mark.item(55)
def test_the_wrong_encoding(http_wire: Wire, target: Target, signal: Signal) -> None:
    other_kind = "http protobuf" if http_wire.kind == "http json" else "http json"
    other = Wire(other_kind, target.http, target.grpc)
    try:
        body = other.encode(target.request(signal, 1))
    finally:
        other.close()
    assert http_wire.send_bytes(body, signal).code == "INVALID_ARGUMENT"
    for text in (b"[]", b'{"resourceSpans":[', b'"text"', b""):
        if http_wire.kind == "http json":
            assert http_wire.send_bytes(text, signal).code == "INVALID_ARGUMENT"
    target.stored(signal)


@pytest.mark.item(50, 53)
def test_every_error_has_one_code_and_only_temporary_ones_are_retried() -> None:
    found = [e for e in vars(errors).values() if isinstance(e, type) and issubclass(e, PermanentError | RetryableError)]
    assert len(found) > 8
    for error in found:
        temporary = issubclass(error, RetryableError)
        assert (error.grpc_code in RETRYABLE_GRPC) == temporary
        assert (error.http_status in RETRYABLE_HTTP) == temporary
        assert hasattr(grpc.StatusCode, error.grpc_code)
        assert error.http_status != 500


@pytest.mark.item(54)
@pytest.mark.own
def test_our_own_faults(other: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("a bug")

    with other() as it:
        with monkeypatch.context() as patch:
            patch.setattr("collector.receive.otlp.check", broken)
            for wire in it.wires.values():
                reply = wire.send(it.target.request("traces", 1))
                assert (reply.code, reply.retry_s) == ("UNAVAILABLE", 1)
                assert "bug" not in reply.message
        it.target.stored("traces")
        monkeypatch.setattr(it.target.own.receiver.clients, "accepted", broken)
        for n, wire in enumerate(it.wires.values(), 1):
            assert wire.send(it.target.request("traces", n)).code == "OK"
        it.target.stored("traces", 1, 2, 3)


@pytest.mark.item(56)
@pytest.mark.own
@pytest.mark.parametrize("kind", EXPORTERS)
def test_stock_exporters_outlive_three_seconds_of_a_full_spool(other: Callable[..., Any], kind: str) -> None:
    with other() as it:
        own = it.target.own
        own.spool.max_bytes, enough = 0, own.spool.max_bytes
        relief = threading.Timer(3.0, setattr, (own.spool, "max_bytes", enough))
        relief.start()
        exporter = EXPORTERS[kind](own, 10)
        spans = made_spans(5)
        exporter.export(spans)
        exporter.shutdown()
        relief.join()
        assert {(s.trace_id, s.span_id) for s in own.spans()} == {key(s) for s in spans}


@pytest.mark.item(57)
@pytest.mark.own
def test_a_slow_disk_is_answered_in_five_seconds(other: Callable[..., Any]) -> None:
    assert Limits().ack_timeout_s <= 5
    with other(Limits(ack_timeout_s=0.5)) as it, slow_disk(it.target.own.spool):
        for wire in it.wires.values():
            started = time.monotonic()
            reply = wire.send(it.target.request("traces", 1))
            assert (reply.code, reply.retry_s) == ("UNAVAILABLE", 1)
            assert time.monotonic() - started < 3


@pytest.mark.item(58)
def test_calls_cancelled_at_any_moment_may_be_sent_again(grpc_wire: Wire, target: Target) -> None:
    call = grpc_wire.channel.unary_unary(METHODS["traces"])
    for n in range(1, 61):
        body = target.request("traces", n).SerializeToString()
        future = call.future(body, timeout=30)
        time.sleep(0.0002 * (n % 20))
        future.cancel()
        assert call(body, timeout=30) == b""
    if target.own is not None:
        assert {s.name for s in target.spans()} == {f"span {n}" for n in range(1, 61)}


@pytest.mark.item(60)
@pytest.mark.own
def test_tokens_come_before_everything_else(other: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def authorize(token: str | None) -> Principal:
        if token is None:
            raise Unauthenticated("a bearer token is required")
        if token != "good":
            raise Forbidden("this token may not send")
        return Principal()

    def touched(*_: Any) -> Any:
        raise AssertionError("inflated before authorized")

    with other(authorize=authorize) as it:
        with monkeypatch.context() as patch:
            patch.setattr("collector.receive.intake.Inflater", touched)
            for wire in it.wires.values():
                packed = gzip.compress(bytes(1 << 20))
                coded = {} if wire.kind == "grpc" else {"content-encoding": "gzip"}
                for token, code in ((None, "UNAUTHENTICATED"), ("bad", "PERMISSION_DENIED")):
                    wire.headers = coded | ({"authorization": f"Bearer {token}"} if token else {})
                    reply = wire.send_bytes(packed)
                    assert (reply.code, reply.retry_s) == (code, None)
        for wire in it.wires.values():
            wire.headers = {"authorization": "Bearer good"}
            assert wire.send(it.target.request("traces", 1)).code == "OK"
