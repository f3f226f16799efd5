"""The example replays 200 real runs and gets the published rates; without them it says why it does nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.commands import ROOT, environment

SCRIPT = ROOT / "examples" / "tau_bench.py"
FOLDER = Path(os.environ.get("TAU_BENCH") or ROOT.parent / "shared" / "data" / "tau-bench")
there = pytest.mark.skipif(
    not (FOLDER / "gpt-4o-airline.json.gz").exists(),
    reason="τ-bench's runs are not here: set TAU_BENCH to their folder",
)


def example(*arguments: str, timeout: float) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, env=environment(), timeout=timeout
    )


@there
def test_the_published_rates_come_out_of_the_views() -> None:
    done = example("--runs", str(FOLDER), timeout=400)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[1] for line in lines[:4]] == ["0.4200", "0.2733", "0.2200", "0.2000"]
    assert lines[4].startswith("200 trials of 50 tasks, basis outcome")


def test_without_the_runs_it_says_why_it_skips(tmp_path: Path) -> None:
    done = example("--runs", str(tmp_path), timeout=60)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("skipped: no gpt-4o-airline.json.gz")
