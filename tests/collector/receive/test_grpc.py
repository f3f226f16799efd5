"""OTLP/gRPC on a live listener: codes, retry hints, limits, health. The protocol as a whole is in tests/conformance."""

from __future__ import annotations

import gzip
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.rpc.error_details_pb2 import BadRequest, RetryInfo
from google.rpc.status_pb2 import Status
from grpc_health.v1 import health_pb2, health_pb2_grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from collector.errors import Forbidden, Unauthenticated, UsageError
from collector.receive.grpc import GrpcServer
from collector.receive.limits import Limits
from collector.receive.otlp import Principal
from tests.collector.receive.build import log, logs, span, traces
from tests.collector.receive.serving import Listeners, listening, slow_disk
from tests.support.apart import apart

MIB = 1 << 20
TRACES = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
LOGS = "/opentelemetry.proto.collector.logs.v1.LogsService/Export"
BODY = traces(span(1)).SerializeToString()


@contextmanager
def channel(listeners: Listeners) -> Iterator[grpc.Channel]:
    options = [("grpc.max_send_message_length", -1), ("grpc.use_local_subchannel_pool", 1)]
    with grpc.insecure_channel(listeners.grpc, options=options) as made:
        yield made


def export(listeners: Listeners, body: bytes, method: str = TRACES, **options: Any) -> bytes:
    with channel(listeners) as made:
        return bytes(made.unary_unary(method)(body, timeout=30, **options))


def refusal(listeners: Listeners, body: bytes, method: str = TRACES, **options: Any) -> Any:
    with pytest.raises(grpc.RpcError) as caught:
        export(listeners, body, method, **options)
    return caught.value


def trailers(error: Any) -> dict[str, bytes]:
    return dict(error.trailing_metadata() or ())


def test_both_services_are_served(listeners: Listeners) -> None:
    assert export(listeners, BODY) == b""
    assert export(listeners, logs(log("text")).SerializeToString(), LOGS) == b""
    assert [s.name for s in listeners.spans()] == ["span 1"]
    assert [r.body for r in listeners.logs()] == ["text"]
    assert listeners.count("requests", signal="logs", transport="grpc", code="OK") == 1


@pytest.mark.parametrize(
    "compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip, grpc.Compression.Deflate]
)
def test_compressions(listeners: Listeners, compression: grpc.Compression) -> None:
    body = traces(*(span(n) for n in range(1, 50))).SerializeToString()
    assert export(listeners, body, compression=compression) == b""
    assert len(listeners.spans()) == 49


@pytest.mark.parametrize(
    "body", [b"garbage", BODY[:-3], b"\x0a\xff", gzip.compress(BODY)[:-3], zlib.compress(BODY)[:-3]]
)
def test_bad_bytes_are_invalid_arguments(listeners: Listeners, body: bytes) -> None:
    error = refusal(listeners, body)
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
    status, details = Status.FromString(trailers(error)["grpc-status-details-bin"]), BadRequest()
    assert status.message == error.details()
    assert status.details[0].Unpack(details)
    assert "google.rpc.retryinfo-bin" not in trailers(error)
    assert listeners.count("refused", signal="traces", reason="bad_data") == 1


def test_partial_success(listeners: Listeners) -> None:
    reply = export(listeners, traces(span(1), span(2, span_id=b"")).SerializeToString())
    assert ExportTraceServiceResponse.FromString(reply).partial_success.rejected_spans == 1


def test_a_temporary_fault_is_unavailable_with_the_hint_in_both_places(listeners: Listeners) -> None:
    listeners.spool.max_bytes = 0
    error = refusal(listeners, BODY)
    assert error.code() == grpc.StatusCode.UNAVAILABLE
    info = RetryInfo()
    assert Status.FromString(trailers(error)["grpc-status-details-bin"]).details[0].Unpack(info)
    assert RetryInfo.FromString(trailers(error)["google.rpc.retryinfo-bin"]) == info
    assert info.retry_delay.seconds == 1


@pytest.mark.parametrize("method", ["/opentelemetry.proto.collector.metrics.v1.MetricsService/Export", "/x/y", "/"])
def test_other_methods_are_unimplemented(listeners: Listeners, method: str) -> None:
    assert refusal(listeners, BODY, method).code() == grpc.StatusCode.UNIMPLEMENTED
    of_otlp = method.startswith("/opentelemetry.")  # a client that sends metrics finds out here why they do not arrive
    assert any(client.last_reason == "not_served" for client in listeners.receiver.clients.seen()) == of_otlp


def test_a_call_without_a_message_is_an_invalid_argument(listeners: Listeners) -> None:
    with channel(listeners) as made, pytest.raises(grpc.RpcError) as caught:
        made.stream_unary(TRACES)(iter([]), timeout=10)
    assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT


# --- size ---


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_messages_over_4_mib_are_accepted_and_over_the_limit_refused_for_good(tmp_path: Path) -> None:
    with listening(tmp_path, Limits(max_request_bytes=6 * MIB)) as listeners:
        for size in (5 * MIB, 6 * MIB - 200):
            assert export(listeners, traces(span(1, {"k": "x" * size})).SerializeToString()) == b""
        for compression in (grpc.Compression.NoCompression, grpc.Compression.Gzip):
            body = traces(span(1, {"k": "x" * 6 * MIB})).SerializeToString()
            error = refusal(listeners, body, compression=compression)
            assert error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
            assert "google.rpc.retryinfo-bin" not in trailers(error)
            assert str(6 * MIB) in error.details()
        eventually(lambda: listeners.count("refused", signal="traces", reason="too_large") == 2)
        assert len(listeners.spans()) == 2


def test_a_bomb_is_refused_without_its_memory(tmp_path: Path) -> None:
    packer = zlib.compressobj(9, wbits=31)
    bomb = b"".join([packer.compress(bytes(MIB)) for _ in range(300)] + [packer.flush()])
    with apart(tmp_path) as receiver, grpc.insecure_channel(receiver.grpc) as channel:
        call = channel.unary_unary(TRACES)
        assert call(BODY, timeout=30) == b""
        before = receiver.peak_mib()
        with pytest.raises(grpc.RpcError) as caught:
            call(bomb, timeout=30)
        assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        assert "google.rpc.retryinfo-bin" not in trailers(caught.value)
        assert receiver.peak_mib() - before < 100


def test_a_bomb_by_grpcs_own_compression_is_refused_too(listeners: Listeners) -> None:
    """The client compresses: the frame says so, and the server's own decompression is off."""
    error = refusal(listeners, bytes(80 * MIB), compression=grpc.Compression.Gzip)
    assert error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "inflates to more than" in error.details()


# --- tokens, slow and impatient clients ---


def test_tokens(tmp_path: Path) -> None:
    def authorize(token: str | None) -> Principal:
        if token is None:
            raise Unauthenticated("a bearer token is required")
        if token != "good":
            raise Forbidden("this token may not send")
        return Principal(project="p")

    with listening(tmp_path, authorize=authorize) as listeners:
        bad = gzip.compress(bytes(100 * MIB))
        assert refusal(listeners, bad).code() == grpc.StatusCode.UNAUTHENTICATED
        for header, code in (("Basic good", "UNAUTHENTICATED"), ("Bearer bad", "PERMISSION_DENIED")):
            error = refusal(listeners, BODY, metadata=(("authorization", header),))
            assert error.code() == grpc.StatusCode[code]
        double = (("authorization", "Bearer good"), ("authorization", "Bearer bad"))
        assert refusal(listeners, BODY, metadata=double).code() == grpc.StatusCode.INVALID_ARGUMENT
        assert export(listeners, BODY, metadata=(("authorization", "Bearer good"),)) == b""
        assert [e.project for e in listeners.spool.read(0, max_entries=9, max_bytes=MIB)] == ["p"]


def test_clients_that_never_send_their_message_hold_nobody_up(tmp_path: Path) -> None:
    release = threading.Event()

    def never() -> Iterator[bytes]:
        release.wait(20)
        yield from ()

    with listening(tmp_path, Limits(read_timeout_s=1.0)) as listeners, channel(listeners) as made:
        slow = [made.stream_unary(TRACES).future(never(), timeout=20) for _ in range(100)]
        started = time.monotonic()
        assert export(listeners, BODY) == b""
        assert time.monotonic() - started < 10
        error = slow[0].exception(timeout=15)
        assert error.code() == grpc.StatusCode.UNAVAILABLE
        release.set()


def test_calls_run_side_by_side(listeners: Listeners) -> None:
    """Fifty calls on one channel wait for a slow disk together, not one after the other."""
    body = traces(span(1, {"k": "x" * MIB})).SerializeToString()
    with channel(listeners) as made, ThreadPoolExecutor(50) as pool, slow_disk(listeners.spool, 0.2):
        started = time.monotonic()
        assert list(pool.map(lambda _: made.unary_unary(TRACES)(body, timeout=30), range(50))) == [b""] * 50
        assert time.monotonic() - started < 0.5 * 50 * 0.2
    assert len(listeners.spans()) == 50


def test_a_slow_disk_is_answered_within_the_clients_patience(tmp_path: Path) -> None:
    with listening(tmp_path, Limits(ack_timeout_s=0.3)) as listeners:
        with slow_disk(listeners.spool):
            assert refusal(listeners, BODY).code() == grpc.StatusCode.UNAVAILABLE
        assert export(listeners, BODY) == b""


def test_who_cancels_or_gives_up_may_send_again(listeners: Listeners) -> None:
    """Each call is kept or not, whole; those that were acknowledged are."""
    acknowledged = 0
    with channel(listeners) as made:
        call = made.unary_unary(TRACES)
        for i in range(99):
            future = call.future(BODY, timeout=(30, 30, 0.0005)[i % 3])
            if i % 3 == 1:
                future.cancel()
            acknowledged += future.cancelled() is False and future.exception() is None
        assert call(BODY) == b""
    assert 34 <= acknowledged + 1 <= len(listeners.spans()) <= 100
    assert {s.name for s in listeners.spans()} == {"span 1"}


# --- health, addresses, stopping ---


def test_health_of_the_server_and_of_both_services(listeners: Listeners) -> None:
    with channel(listeners) as made:
        stub = health_pb2_grpc.HealthStub(made)
        for service in ("", TRACES[1:].split("/")[0], LOGS[1:].split("/")[0]):
            assert stub.Check(health_pb2.HealthCheckRequest(service=service)).status == 1
        with pytest.raises(grpc.RpcError) as caught:
            stub.Check(health_pb2.HealthCheckRequest(service="unknown"))
        assert caught.value.code() == grpc.StatusCode.NOT_FOUND


def test_watchers_see_the_drain_and_calls_in_flight_finish(tmp_path: Path) -> None:
    with listening(tmp_path) as listeners:
        server = GrpcServer(listeners.receiver, "127.0.0.1:0")
        target = f"127.0.0.1:{server.start()}"
        with grpc.insecure_channel(target) as made:
            watch = health_pb2_grpc.HealthStub(made).Watch(health_pb2.HealthCheckRequest())
            assert next(watch).status == health_pb2.HealthCheckResponse.SERVING
            with slow_disk(listeners.spool):
                call = made.unary_unary(TRACES).future(BODY, timeout=20)
                eventually(lambda: listeners.count("received_bytes", signal="traces") > 0)
                stopping = threading.Thread(target=server.stop, args=(5,))
                stopping.start()
                assert next(watch).status == health_pb2.HealthCheckResponse.NOT_SERVING
            assert call.result() == b""
            watch.cancel()
            stopping.join(15)
            assert not stopping.is_alive()
        assert len(listeners.spans()) == 1


def test_listens_on_both_loopback_addresses(listeners: Listeners) -> None:
    port = listeners.grpc.rpartition(":")[2]
    targets = ["127.0.0.1"]
    with socket.socket(socket.AF_INET6) as probe:
        try:
            probe.bind(("::1", 0))
            targets.append("[::1]")
        except OSError:
            pass  # this machine has no IPv6
    for host in targets:
        with grpc.insecure_channel(f"{host}:{port}") as made:
            assert made.unary_unary(TRACES)(BODY, timeout=10) == b""


def test_a_port_in_use_is_said_at_once(listeners: Listeners) -> None:
    with pytest.raises(UsageError, match="in use"):
        GrpcServer(listeners.receiver, listeners.grpc).start()
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(UsageError, match=r"listen\.grpc"):
        GrpcServer(listeners.receiver, f"127.0.0.1:{taken.getsockname()[1]}").start()
