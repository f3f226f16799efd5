"""Runs the user's own checks outside this process under a time limit: `python` in a worker, `command` by itself."""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import msgspec

from collector.grade.worker import LENGTH_BYTES
from graders.checks.external import CheckFailed, External

MAX_REPLY_BYTES = 1 << 20
DESCRIBE_S = 30.0  # importing a module may be slow once
ROOT = Path(__file__).resolve().parents[2]  # where `collector` is imported from, installed or not
BOOT = "import sys; sys.path[:0] = sys.argv[1:]; from collector.grade.worker import main; main()"


class Programs:
    """A `Runner` for `CheckSet.grade`. `folder` is where programs run and modules are found: that of the configuration.

    Thread-safe; one check at a time. Close it to end the worker.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._worker: subprocess.Popen[bytes] | None = None

    def __call__(self, external: External, request: bytes) -> bytes:
        """The reply to a request. Raises CheckFailed: time limit, exit code, crash, a reply that is none."""
        if external.command:
            return self._command(external, request)
        run = msgspec.Raw(request)
        body = msgspec.json.encode({"function": external.function, "run": msgspec.json.decode(run)["run"]})
        return msgspec.json.encode(self._ask(body, external.timeout_s))

    def describe(self, function: str) -> dict[str, Any]:
        """The keys of a function's `@check` and its `source`. Raises CheckFailed when it cannot be imported."""
        return self._ask(msgspec.json.encode({"function": function}), DESCRIBE_S)

    def close(self) -> None:
        """End the worker."""
        with self._lock:
            self._end()

    def _command(self, external: External, request: bytes) -> bytes:
        try:
            done = subprocess.run(
                external.command, input=request, capture_output=True, cwd=self._folder, timeout=external.timeout_s
            )
        except subprocess.TimeoutExpired:
            raise CheckFailed(f"it took longer than {external.timeout_s:g} s") from None
        except OSError as error:
            raise CheckFailed(f"{external.command[0]}: {error.strerror}") from None
        if done.returncode != 0:
            said = done.stderr.decode(errors="replace").strip().splitlines()
            raise CheckFailed(f"it ended with exit code {done.returncode}{': ' + said[-1] if said else ''}"[:500])
        if len(done.stdout) > MAX_REPLY_BYTES:
            raise CheckFailed(f"it answered more than {MAX_REPLY_BYTES} bytes")
        return _json(done.stdout)

    def _ask(self, body: bytes, timeout_s: float) -> dict[str, Any]:
        with self._lock:
            worker = self._started()
            try:
                reply = _exchange(worker, body, time.monotonic() + timeout_s)
            except TimeoutError:
                self._end()
                raise CheckFailed(f"it took longer than {timeout_s:g} s") from None
            except (OSError, EOFError):
                code = self._end()
                raise CheckFailed(f"it ended its process (exit code {code})") from None
        said = msgspec.json.decode(reply)
        if "error" in said:
            raise CheckFailed(said["error"])
        return said["ok"]  # type: ignore[no-any-return]

    def _started(self) -> subprocess.Popen[bytes]:
        if self._worker is None or self._worker.poll() is not None:
            command = [sys.executable, "-c", BOOT, str(self._folder), str(ROOT)]
            pipe = subprocess.PIPE
            self._worker = subprocess.Popen(command, stdin=pipe, stdout=pipe, bufsize=0, cwd=self._folder)
        return self._worker

    def _end(self) -> int | None:
        worker, self._worker = self._worker, None
        if worker is None:
            return None
        if worker.poll() is None:
            worker.kill()
        code = worker.wait()
        for pipe in (worker.stdin, worker.stdout):
            if pipe is not None:
                pipe.close()
        return code


def _exchange(worker: subprocess.Popen[bytes], body: bytes, deadline: float) -> bytes:
    """One frame there, one back. Writing waits too: a worker that hangs does not read."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    out, back = worker.stdin.fileno(), worker.stdout.fileno()
    os.set_blocking(out, False)
    waiting = memoryview(len(body).to_bytes(LENGTH_BYTES, "big") + body)
    with selectors.DefaultSelector() as ready:
        ready.register(out, selectors.EVENT_WRITE)
        while waiting:
            _wait(ready, deadline)
            waiting = waiting[os.write(out, waiting) :]
        ready.unregister(out)
        ready.register(back, selectors.EVENT_READ)
        head = _read(ready, back, LENGTH_BYTES, deadline)
        return _read(ready, back, int.from_bytes(head, "big"), deadline)


def _read(ready: selectors.BaseSelector, descriptor: int, size: int, deadline: float) -> bytes:
    found = bytearray()
    while len(found) < size:
        _wait(ready, deadline)
        piece = os.read(descriptor, size - len(found))
        if not piece:
            raise EOFError
        found += piece
    return bytes(found)


def _wait(ready: selectors.BaseSelector, deadline: float) -> None:
    left = deadline - time.monotonic()
    if left <= 0 or not ready.select(left):
        raise TimeoutError


def _json(text: bytes) -> bytes:
    try:
        msgspec.json.decode(text)
    except msgspec.DecodeError:
        raise CheckFailed(f"it answered no JSON: {text[:200].decode(errors='replace')!r}") from None
    return text
