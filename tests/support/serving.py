"""A real `passhat serve` in its own process, for tests that kill it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import httpx
import yaml

ROOT = Path(__file__).resolve().parents[2]
START_S = 60.0
T = TypeVar("T")

# Tests want verdicts at once: half a second of quiet after the root instead of ten.
QUICK: dict[str, Any] = {"runs": {"settle_s": 0.5, "idle_s": 3}, "spool": {"min_free_bytes": 0}}

# One for all requests: making a client costs 25 ms of processor time, most of it for TLS that is not used. No
# connection outlives its answer, so that a collector may be killed and started again between two.
CLIENT = httpx.Client(trust_env=False, verify=False, timeout=30, limits=httpx.Limits(max_keepalive_connections=0))


class Serving:
    """One collector process over one data directory. `kill` is SIGKILL, `stop` is SIGTERM."""

    def __init__(
        self, folder: Path, config: Mapping[str, Any] | None = None, env: Mapping[str, str] | None = None
    ) -> None:
        self.folder = folder
        self.data = folder / "data"
        folder.mkdir(parents=True, exist_ok=True)
        self.config_file = folder / "passhat.yaml"
        listen = {"grpc": "127.0.0.1:0", "http": "127.0.0.1:0", "web": "127.0.0.1:0"}
        whole = {"listen": listen, "data": str(self.data)}
        self.config_file.write_text(yaml.safe_dump({**whole, **QUICK, **(config or {})}))
        self.log = folder / "serve.log"
        self._env = {**os.environ, **(env or {})}
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> Serving:
        command = [
            sys.executable,
            "-m",
            "collector",
            "serve",
            "--config",
            str(self.config_file),
            "--log-format",
            "json",
        ]
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, text=True, cwd=ROOT, env=self._env
            )
        line = _first_line(self.process, START_S)
        try:
            said = json.loads(line)
        except ValueError:
            self.kill()
            raise AssertionError(f"no listening line but {line!r}; log:\n{self.log.read_text()[-4000:]}") from None
        self.grpc, self.http, self.web = said["grpc"], said["http"], said["web"]
        return self

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        return self._end(signal.SIGTERM)

    def _end(self, number: signal.Signals) -> int:
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(30)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return code

    def __enter__(self) -> Serving:
        return self.start()

    def __exit__(self, *_: object) -> None:
        if self.process is not None and self.process.poll() is None:
            self.kill()

    def get(self, path: str, **parameters: Any) -> Any:
        reply = CLIENT.get(f"http://{self.web}{path}", params=parameters)
        reply.raise_for_status()
        return reply.json()

    def query(self, sql: str) -> list[dict[str, Any]]:
        """Rows of a SELECT, by `passhat query`: the server must have stopped, a store has one owner."""
        where = ["--config", str(self.config_file), "--data", str(self.data)]
        command = [sys.executable, "-m", "collector", "query", *where, "--json", sql]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=self._env, timeout=120)
        assert done.returncode == 0, done.stderr
        rows: list[dict[str, Any]] = json.loads(done.stdout)
        return rows

    def stored_all(self) -> None:
        """Wait until nothing acknowledged is only in the spool."""
        until(lambda: self.get("/api/v1/status"), lambda status: status["spool"]["entries"] == 0)

    def drained(self) -> None:
        """Wait until nothing acknowledged is only in the spool, and nothing due is ungraded."""
        self.stored_all()
        for _ in range(2):  # what one look graded may have its task judged again in the next
            stored_ns = time.time_ns()
            until(
                lambda: self.get("/api/v1/status")["lag"],
                lambda lag, ns=stored_ns: lag["as_of_ns"] >= ns and lag["units_waiting"] == 0,
            )

    def post_traces(self, body: Any, content_type: str = "application/json") -> httpx.Response:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return CLIENT.post(f"http://{self.http}/v1/traces", content=data, headers={"Content-Type": content_type})


def _first_line(process: subprocess.Popen[str], seconds: float) -> str:
    lines: list[str] = []
    assert process.stdout is not None
    reader = threading.Thread(target=lambda: lines.append(process.stdout.readline()), daemon=True)  # type: ignore[union-attr]
    reader.start()
    reader.join(seconds)
    return lines[0] if lines else ""


def until(say: Callable[[], T], holds: Callable[[T], bool], seconds: float = 30.0) -> T:
    """The first answer that holds; fails with the last one when none does in time."""
    deadline = time.monotonic() + seconds
    while True:
        answer = say()
        if holds(answer):
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s; last answer: {answer!r}")
        time.sleep(0.05)
