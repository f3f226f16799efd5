# ruff: noqa: T201
"""Replays 200 real runs (τ-bench, airline, gpt-4o: 50 tasks x 4 trials) as OTLP and reads pass^k back from passhat.

    python examples/tau_bench.py [--runs FOLDER] [--endpoint http://127.0.0.1:4318 --server http://127.0.0.1:8317]

Without --endpoint it starts a passhat of its own, on free ports and without gating checks: then a trial passes when
its reward says so, and the rates must be the published 0.420, 0.273, 0.220, 0.200. A passhat that runs already judges
by its own checks too. The runs are sierra-research/tau-bench's `historical_trajectories/gpt-4o-airline.json`, gzipped
or not; they are looked for in FOLDER, else in $TAU_BENCH, else in ../shared/data/tau-bench beside the repository.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Status, StatusCode, Tracer, set_span_in_context

HERE = Path(__file__).resolve().parents[1]
NAMES = ("gpt-4o-airline.json.gz", "gpt-4o-airline.json")
PUBLISHED = {"1": 0.420, "2": 0.273, "3": 0.220, "4": 0.200}
STEP_NS = 1_000_000_000
PATIENCE_S = 150
QUEUE = 1 << 16  # all spans of all runs: the SDK's own 2,048 would drop the rest, with a warning only
CONFIG = {
    "listen": {"grpc": "127.0.0.1:0", "http": "127.0.0.1:0", "web": "127.0.0.1:0"},
    "runs": {"settle_s": 1, "idle_s": 5},
    "checks": [],
}
Message = dict[str, Any]


def main() -> int:
    """0: the published rates (or nothing to replay); 1: others."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=Path, help="the folder of the recorded runs")
    parser.add_argument("--endpoint", help="OTLP/HTTP of a running passhat")
    parser.add_argument("--server", default="http://127.0.0.1:8317", help="the web address of the same passhat")
    asked = parser.parse_args()
    file = recorded(asked.runs)
    if file is None:
        print(f"skipped: no {NAMES[0]} there; name its folder with --runs or TAU_BENCH", file=sys.stderr)
        return 0
    runs = json.loads(gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes())
    project = f"tau-bench-{secrets.token_hex(3)}"
    if asked.endpoint:
        return replay(runs, project, asked.endpoint, asked.server)
    with private_passhat() as (endpoint, server):
        return replay(runs, project, endpoint, server)


def recorded(folder: Path | None) -> Path | None:
    """The file of recorded runs; None where there is none."""
    place = folder or Path(os.environ.get("TAU_BENCH") or HERE.parent / "shared" / "data" / "tau-bench")
    return next((place / name for name in NAMES if (place / name).is_file()), None)


def replay(runs: list[dict[str, Any]], project: str, endpoint: str, server: str) -> int:
    """Send every run, wait for all of them to be judged, print pass^k by k."""
    resource = Resource({"service.name": "tau-bench", "service.version": "gpt-4o", "passhat.project": project})
    provider = TracerProvider(resource=resource)
    exporter = OTLPSpanExporter(endpoint=f"{endpoint}/v1/traces")
    provider.add_span_processor(BatchSpanProcessor(exporter, max_queue_size=QUEUE))
    tracer = provider.get_tracer("tau_bench")
    # Runs of real conversations ended hours ago, a minute apart; spans say when.
    start_ns = time.time_ns() - len(runs) * 60 * STEP_NS - 3600 * STEP_NS
    for number, run in enumerate(runs):
        Replayed(tracer, run).record(start_ns + number * 60 * STEP_NS)
    provider.shutdown()
    suite = judged(server, project, len(runs))
    wrong = 0
    for k, published in PUBLISHED.items():
        told = suite["pass_hat_k"][k]
        same = told is not None and abs(told - published) < 0.0005
        wrong += not same
        print(f"pass^{k}  {told:.4f}  published {published:.3f}  {'ok' if same else 'differs'}")
    print(f"{suite['n']} trials of {suite['tasks']} tasks, basis {suite['basis']}, project {project}")
    return 1 if wrong else 0


class Replayed:
    """One recorded conversation as spans of the GenAI convention: a second a message."""

    def __init__(self, tracer: Tracer, run: dict[str, Any]) -> None:
        self._tracer = tracer
        self._run = run
        self._now_ns = 0

    def record(self, start_ns: int) -> None:
        self._now_ns = start_ns
        run, messages = self._run, self._run["traj"]
        root = self._tracer.start_span("invoke_agent airline", Context(), start_time=start_ns)
        root.set_attributes({
            "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "airline",
            "passhat.task.id": f"airline-{run['task_id']}", "passhat.task.class": "airline",
            "passhat.trial.id": str(run["trial"]), "passhat.outcome": "pass" if run["reward"] == 1.0 else "fail",
        })  # fmt: skip
        context = set_span_in_context(root, Context())
        results = {one["tool_call_id"]: one["content"] for one in messages if one["role"] == "tool"}
        for number, message in enumerate(messages):
            if message["role"] == "assistant":
                self._turn(messages[number - 1], message, results, context)
        root.set_status(Status(StatusCode.OK))
        root.end(self._tick())

    def _turn(self, before: Message, message: Message, results: dict[str, str], context: Context) -> None:
        calls = message.get("tool_calls") or []
        chat = self._tracer.start_span("chat gpt-4o", context, start_time=self._tick())
        chat.set_attributes({"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o"})
        if before["role"] == "user":
            chat.set_attribute("gen_ai.input.messages", json.dumps([said("user", before["content"])]))
        if message.get("content"):
            chat.set_attribute("gen_ai.output.messages", json.dumps([said("assistant", message["content"])]))
        chat.end(self._tick())
        for call in calls:
            function = call["function"]
            span = self._tracer.start_span(f"execute_tool {function['name']}", context, start_time=self._tick())
            span.set_attributes({
                "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": function["name"],
                "gen_ai.tool.call.id": call["id"], "gen_ai.tool.call.arguments": function["arguments"],
            })  # fmt: skip
            if call["id"] in results:
                span.set_attribute("gen_ai.tool.call.result", results[call["id"]])
            span.end(self._tick())

    def _tick(self) -> int:
        self._now_ns += STEP_NS // 10
        return self._now_ns


def said(role: str, text: str) -> Message:
    """A message of one text part."""
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def judged(server: str, project: str, trials: int) -> dict[str, Any]:
    """The suite of the project once all its trials count. Raises TimeoutError."""
    deadline = time.monotonic() + PATIENCE_S
    query = f"{server}/api/v1/reliability?project={project}&k=1,2,3,4&by=class&window=7d"
    while True:
        with urllib.request.urlopen(query, timeout=30) as reply:  # a server the user named, or our own
            suite: dict[str, Any] = json.load(reply)["suite"]
        if suite["n"] >= trials:
            return suite
        if time.monotonic() > deadline:
            raise TimeoutError(f"{suite['n']} of {trials} trials were judged in {PATIENCE_S} s")
        time.sleep(0.5)


@contextmanager
def private_passhat() -> Iterator[tuple[str, str]]:
    """A `passhat serve` on free ports: its OTLP/HTTP and web addresses; gone at the end."""
    with tempfile.TemporaryDirectory(prefix="passhat-tau-") as folder:
        config = Path(folder, "passhat.yaml")
        config.write_text(json.dumps({**CONFIG, "data": str(Path(folder, "data"))}))  # JSON is YAML
        command = [sys.executable, "-m", "collector", "serve", "--config", str(config), "--log-format", "json"]
        with open(Path(folder, "serve.log"), "w") as log:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, cwd=HERE)
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                raise RuntimeError(Path(folder, "serve.log").read_text())
            at = json.loads(line)
            yield f"http://{at['http']}", f"http://{at['web']}"
        finally:
            process.terminate()
            process.wait(60)


if __name__ == "__main__":
    sys.exit(main())
