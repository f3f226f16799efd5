"""The grading process is killed inside a slice of units: the next grades each run once, whole, and counts it once."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from collector.assemble import Policy
from collector.config.keys import StoreConfig
from collector.grade.due import DuePolicy
from collector.grade.grader import Grader
from collector.grade.loop import GradeLoop
from collector.metrics import Metrics
from collector.store.store import Store
from graders.checkset import CheckSet

ROOT = Path(__file__).resolve().parents[3]
RUNS = 4
CHILD = """
import os, signal, sys
from pathlib import Path
from collector.store.client import Connections
from tests.collector.grade import test_slice_kill as this
from tests.collector.grade.test_known_cases import put as put_into, span

folder, place = Path(sys.argv[1]), sys.argv[2]
store = this.opened(folder)
first = 10 * this.PLACES.index(place) + 1
for n in range(first, first + this.RUNS):
    put_into(store, place, span(n, 1, task="t"), span(n, 2, 1, tool="x"))
def die(): os.kill(os.getpid(), signal.SIGKILL)

loop = this.loop_over(store)
if place == "assembling":
    assembled, seen = loop._grader.assembled, []
    def dying(unit, closed_by):
        seen.append(unit)
        return die() if len(seen) == 3 else assembled(unit, closed_by)
    loop._grader.assembled = dying
else:
    insert = Connections.insert
    def dying(self, table, rows):
        insert(self, table, rows)
        if table == place: die()
    Connections.insert = dying
loop.step()
"""
PLACES = ("assembling", "trace_lines", "runs")


def opened(folder: Path) -> Store:
    return Store.open(StoreConfig(url=f"chdb:{folder / 'store'}"), folder)


def loop_over(store: Store) -> GradeLoop:
    checks = CheckSet.compile()
    grader = Grader(checks, Policy(), store.register_checks(checks.digest, "{}"))
    return GradeLoop(store, grader, DuePolicy(settle_s=0, idle_s=1000), Metrics())


def test_a_slice_that_is_killed_is_graded_again_and_counts_once(tmp_path: Path) -> None:
    for place in PLACES:
        done = subprocess.run(
            [sys.executable, "-c", CHILD, str(tmp_path), place], cwd=ROOT, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == -signal.SIGKILL, done.stderr
    store = opened(tmp_path)
    try:
        store.repair()  # as a collector does when it starts
        loop_over(store).step()
        for place in PLACES:
            where = f"WHERE project = '{place}'"
            runs = store.query(f"SELECT run_id, tool_calls, line_count FROM trials {where} ORDER BY run_id").rows
            assert [calls for _, calls, _ in runs] == [1] * RUNS, place
            told = store.query(f"SELECT run_id, count() FROM tool_calls {where} GROUP BY run_id").rows
            assert sorted(told) == [(run_id, 1) for run_id, _, _ in runs], place
            verdicts = store.query(
                f"SELECT max(n) FROM (SELECT count() AS n FROM current_verdicts {where} GROUP BY run_id, check_id)"
            )
            assert verdicts.rows == [(1,)], place
            span = "start='2026-01-01', end='2030-01-01', k=1"
            counted = store.query(f"SELECT n + unknown FROM task_reliability({span}) {where}").rows
            assert counted == [(RUNS,)], place
    finally:
        store.close()
