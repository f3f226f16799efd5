"""Health, keepalive, stopping, security: items 97 to 106, as far as the receiver has them."""

from __future__ import annotations

import json
import os
import signal as signals
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from collector.errors import UsageError
from collector.normalise.unpack import spans_of
from collector.receive.grpc import GrpcServer
from collector.spool import Spool
from tests.collector.receive.build import span, traces
from tests.conformance.conftest import Target
from tests.conformance.raw import connection, read_reply
from tests.conformance.wires import METHODS, Wire


@pytest.mark.item(97)
def test_health(grpc_wire: Wire) -> None:
    stub = health_pb2_grpc.HealthStub(grpc_wire.channel)
    for service in ("", *(method[1:].rpartition("/")[0] for method in METHODS.values())):
        assert stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=20).status == 1
    with pytest.raises(grpc.RpcError) as caught:
        stub.Check(health_pb2.HealthCheckRequest(service="unknown"), timeout=20)
    assert caught.value.code() == grpc.StatusCode.NOT_FOUND
    watch = stub.Watch(health_pb2.HealthCheckRequest(), timeout=20)
    assert next(watch).status == 1
    watch.cancel()


@pytest.mark.item(97)
@pytest.mark.own
def test_watchers_hear_of_the_drain(target: Target) -> None:
    assert target.own is not None
    server = GrpcServer(target.own.receiver, "127.0.0.1:0")
    with grpc.insecure_channel(f"127.0.0.1:{server.start()}") as channel:
        watch = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest(), timeout=20)
        assert next(watch).status == health_pb2.HealthCheckResponse.SERVING
        stopping = threading.Thread(target=server.stop, args=(1,))
        stopping.start()
        assert next(watch).status == health_pb2.HealthCheckResponse.NOT_SERVING
        stopping.join(20)


@pytest.mark.item(99)
def test_pings_without_calls_are_tolerated(target: Target) -> None:
    options = [
        ("grpc.keepalive_time_ms", 10_000),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.use_local_subchannel_pool", 1),
    ]
    with grpc.insecure_channel(target.grpc, options=options) as channel:
        call = channel.unary_unary(METHODS["traces"])
        assert call(b"", timeout=20) == b""
        time.sleep(11)  # the client's shortest interval, once
        assert call(b"", timeout=20) == b""


@pytest.mark.item(59, 100)
@pytest.mark.own
@pytest.mark.parametrize("how", [signals.SIGTERM, signals.SIGKILL])
def test_writers_through_a_stop_or_a_kill(tmp_path: Path, how: signals.Signals) -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.collector.receive.child", str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    where = json.loads(child.stdout.readline())
    acknowledged: set[str] = set()
    killed = threading.Event()

    def write(number: int) -> None:
        wire = Wire(("grpc", "http protobuf", "http json")[number % 3], where["http"], where["grpc"])
        try:
            for n in range(10_000):
                if killed.is_set():
                    return
                name = f"{number}-{n}"
                if wire.send(traces(span(n + 1, trace_id=os.urandom(16), name=name))).code == "OK":
                    acknowledged.add(name)
        except Exception:
            return  # the connection ended: what was not acknowledged may be sent again elsewhere
        finally:
            wire.close()

    writers = [threading.Thread(target=write, args=(n,)) for n in range(12)]
    for writer in writers:
        writer.start()
    while len(acknowledged) < 300:
        killed.wait(0.01)
    child.send_signal(how)
    started = time.monotonic()
    child.wait(20)
    assert time.monotonic() - started < 10
    killed.set()
    for writer in writers:
        writer.join(90)
    child.stdin.close()
    child.stdout.close()
    spool = Spool(tmp_path / "spool", min_free_bytes=0)
    stored = [s.name for e in spool.read(0, max_entries=10**6, max_bytes=1 << 40) for s in spans_of(e.payload)]
    spool.close()
    assert acknowledged <= set(stored)


@pytest.mark.item(104)
def test_no_cross_origin_access(target: Target, http_wire: Wire) -> None:
    preflight = {"origin": "http://evil.example", "access-control-request-method": "POST"}
    reply = http_wire.client.options(f"{target.http}/v1/traces", headers=preflight)
    assert not any(name.startswith("access-control") for name in reply.headers)
    headers = {"origin": "http://evil.example", "content-type": "application/json"}
    reply = http_wire.client.post(f"{target.http}/v1/traces", content=b"{}", headers=headers)
    assert not any(name.startswith("access-control") for name in reply.headers)


@pytest.mark.item(105)
@pytest.mark.own
def test_a_port_in_use(target: Target) -> None:
    assert target.own is not None
    with pytest.raises(UsageError, match="in use"):
        GrpcServer(target.own.receiver, target.grpc).start()
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(UsageError, match="in use"):
        GrpcServer(target.own.receiver, f"127.0.0.1:{taken.getsockname()[1]}").start()


@pytest.mark.item(106)
def test_delivered_again_and_regrouped(wire: Wire, target: Target) -> None:
    """The receiver keeps each delivery; one span a key is the store's part, which its own tests show."""
    for _ in range(5):
        assert wire.send(target.request("traces", 1, 2, 3)).code == "OK"
    for numbers in ((3, 1), (2,)):
        assert wire.send(target.request("traces", *numbers)).code == "OK"
    if target.own is not None:
        stored = {(s.trace_id, s.span_id, s.name, s.start_ns, s.end_ns) for s in target.spans()}
        assert len(stored) == 3


@pytest.mark.item(6, 25)
def test_two_requests_in_one_packet(target: Target) -> None:
    request = b"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
    with connection(target.http, request * 3) as sock:
        found: list[Any] = [read_reply(sock)[0] for _ in range(3)]
    assert found == [200] * 3
