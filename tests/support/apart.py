"""A receiver in a process of its own, and the most memory it ever held: other tests leave their peaks in this one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.stores import ROOT


class Apart:
    """Where it listens; `peak_mib` reads the kernel's high-water mark (Linux)."""

    def __init__(self, http: str, grpc: str, pid: int) -> None:
        self.http, self.grpc = http, grpc
        self._status = Path(f"/proc/{pid}/status")

    def peak_mib(self) -> float:
        (line,) = (line for line in self._status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) / 1024


@contextmanager
def apart(folder: Path) -> Iterator[Apart]:
    """One that accepts, until the block ends."""
    command = [sys.executable, "-m", "tests.collector.receive.child", str(folder)]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        where = json.loads(child.stdout.readline())
        yield Apart(where["http"], where["grpc"], child.pid)
    finally:
        child.stdin.close()
        child.wait(60)
        child.stdout.close()
