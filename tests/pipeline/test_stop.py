"""SIGTERM under load: nothing acknowledged is lost, the store has it where time allows, and everybody is told."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import grpc
import httpx
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.support.senders import Senders, stored_once
from tests.support.serving import Serving, until

MOST_S = 20.0


def test_what_is_acknowledged_is_stored_before_it_exits(tmp_path: Path) -> None:
    with Serving(tmp_path) as serving, Senders(serving) as senders:
        senders.wait(10)
        began = time.monotonic()
        assert serving.stop() == 0
        took = time.monotonic() - began
    assert senders.acknowledged <= stored_once(serving)
    assert took < MOST_S
    lines = [json.loads(line) for line in serving.log.read_text().splitlines()]
    assert {"time", "level", "logger", "message"} <= set.intersection(*map(set, lines))
    assert [line["message"] for line in lines if line["level"] != "info"] == []


def test_it_says_so_first_and_a_second_signal_ends_it_at_once(tmp_path: Path) -> None:
    config = {"spool": {"min_free_bytes": 0}, "listen": listening(announce_s=120)}
    with Serving(tmp_path, config) as serving, Senders(serving) as senders:
        assert serving.process is not None
        senders.wait(5)
        with grpc.insecure_channel(serving.grpc) as channel:
            watch = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest(), timeout=100)
            assert next(watch).status == health_pb2.HealthCheckResponse.SERVING
            serving.process.send_signal(signal.SIGTERM)
            assert next(watch).status == health_pb2.HealthCheckResponse.NOT_SERVING
            watch.cancel()
        ready = until(lambda: httpx.get(f"http://{serving.web}/readyz"), lambda reply: reply.status_code == 503)
        assert "stopping" in ready.json()["detail"]
        assert httpx.get(f"http://{serving.web}/healthz").json()["health"] == "stopping"
        senders.wait(min(len(one.acknowledged) for one in senders.recorders.values()) + 1)  # it still takes what comes
        began = time.monotonic()
        assert serving.stop() == 128 + signal.SIGTERM
        assert time.monotonic() - began < MOST_S
    with Serving(tmp_path) as serving:  # without the announcement
        serving.stored_all()
        assert serving.stop() == 0
    assert senders.acknowledged <= stored_once(serving)


def listening(**more: object) -> dict[str, object]:
    return {"grpc": "127.0.0.1:0", "http": "127.0.0.1:0", "web": "127.0.0.1:0", **more}
