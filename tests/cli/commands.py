"""`passhat` as people run it: a process of its own."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from msgspec import Struct

from collector.cli import run

ROOT = Path(__file__).resolve().parents[2]
PASSHAT = (sys.executable, "-m", "collector")


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Plain: no PASSHAT_*, UTC, 100 columns."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PASSHAT_")}
    return {**kept, "COLUMNS": "100", "TZ": "UTC", "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", **(more or {})}


class Done(Struct, frozen=True):
    """A command that ended."""

    returncode: int
    stdout: str
    stderr: str


def here(*arguments: str) -> Done:
    """The same in this process: quicker, where a process of its own would show nothing more."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(list(arguments))
    return Done(code, out.getvalue(), err.getvalue())


def passhat(
    *arguments: str, cwd: Path, env: Mapping[str, str] | None = None, timeout: float = 120
) -> subprocess.CompletedProcess[str]:
    """Run one command to its end."""
    return subprocess.run(
        [*PASSHAT, *arguments], capture_output=True, text=True, cwd=cwd, env=environment(env), timeout=timeout
    )
