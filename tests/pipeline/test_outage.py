"""The store is away while stock exporters send: they notice nothing, health says so, and nothing is lost or doubled.

PASSHAT_OUTAGE_S=60 makes it the long form of docs/running.md.
"""

from __future__ import annotations

import logging
import os
import time
from pathlib import Path

import httpx
import pytest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from tests.cli.commands import here
from tests.support.senders import EXPORTERS, Recorder
from tests.support.serving import Serving, until
from tests.support.stores import Front

OUTAGE_S = float(os.environ.get("PASSHAT_OUTAGE_S", "2"))
SPANS = "SELECT count(), uniqExact(trace_id, span_id) FROM passhat_1.spans FINAL"


class Harness:
    """A program under a stock exporter, set up as the documentation of OpenTelemetry says."""

    def __init__(self, name: str, recorder: Recorder) -> None:
        self.recorder = recorder
        self.ended = 0
        self._provider = TracerProvider(resource=Resource({"service.name": name}), shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(recorder, schedule_delay_millis=200))
        self._tracer = self._provider.get_tracer("test")

    def run(self) -> None:
        """One agent's run of two spans."""
        with self._tracer.start_as_current_span("invoke_agent", attributes={"gen_ai.operation.name": "invoke_agent"}):
            tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t"}
            self._tracer.start_span("execute_tool t", attributes=tool).end()
        self.ended += 2

    def close(self) -> None:
        self._provider.shutdown()


def send(harnesses: list[Harness], seconds: float) -> None:
    until_at = time.monotonic() + seconds
    while time.monotonic() < until_at:
        for harness in harnesses:
            harness.run()
        time.sleep(0.02)


def test_a_store_that_is_away_costs_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "opentelemetry")
    front = Front(tmp_path / "engine")
    try:
        with Serving(tmp_path, {"store": {"url": front.place().url}}) as serving:
            harnesses = [Harness(name, Recorder(make(serving))) for name, make in EXPORTERS.items()]
            send(harnesses, 0.5)
            until(lambda: serving.get("/api/v1/status")["stored"].get("traces", 0), lambda stored: stored > 0)

            front.kill()
            send(harnesses, OUTAGE_S)
            said = until(lambda: health(serving), lambda told: told["health"] == "degraded")
            assert {"store"} <= {one["stage"] for one in said["problems"]}
            assert all(one["hint"] for one in said["problems"])
            assert httpx.get(f"http://{serving.web}/readyz").status_code == 200
            shown = here("status", "--server", f"http://{serving.web}")
            assert shown.returncode == 0, shown.stderr
            assert "health: degraded" in shown.stdout
            assert "store: no answer from 127.0.0.1" in shown.stdout
            assert "    do: look whether the store runs" in shown.stdout
            print(shown.stdout)

            front = Front(tmp_path / "engine", port=front.port)
            for harness in harnesses:
                harness.close()
            # Runs of a minute take longer to grade than to store: that is not waited for.
            until(lambda: serving.get("/api/v1/status")["spool"]["entries"], lambda left: left == 0, 30 + 5 * OUTAGE_S)
            until(lambda: health(serving), lambda told: told["health"] == "ok")
            assert serving.stop() == 0
        assert [record.getMessage() for record in caplog.records if record.name.startswith("opentelemetry")] == []
        sent = sum(harness.ended for harness in harnesses)
        assert sum(len(harness.recorder.acknowledged) for harness in harnesses) == sent
        rows, keys = (
            int(number) for number in httpx.post(f"http://127.0.0.1:{front.port}", content=SPANS).text.split()
        )
        assert (rows, keys) == (sent, sent)
        print(f"{sent} spans sent, {rows} stored, the store was away for {OUTAGE_S:g} s")
    finally:
        front.stop()


def health(serving: Serving) -> dict[str, object]:
    told: dict[str, object] = httpx.get(f"http://{serving.web}/healthz").json()
    return told
