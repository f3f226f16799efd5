"""How long the reliability views take over 30 days of trials, and whether more trials in the same hours matter.

python -m bench.reliability [--tasks 1000] [--days 30] [--trials 10000000] [--json]
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.telling import Figures, tell
from collector.config import load
from collector.store.client import Connections, Target
from collector.store.recount import Hour, recount
from collector.store.store import Store

LOOKS = 9
END = datetime(2026, 6, 1, tzinfo=UTC)
K = 3

# Rows of trials as the store keeps them by hour, of two models: the counts are then made of them by the store itself.
FILL = """
INSERT INTO run_hours
(project, hour, run_key, rank, alive, ended, task_id, task_version, checks_version, basis, task_class, task_source,
 model, result)
SELECT 'p', toStartOfHour(ended), number + {first:UInt64}, 1, true,
    fromUnixTimestamp64Milli(toInt64({end_ms:Int64} - 1 - number * {span_ms:Int64} / {trials:UInt64}), 'UTC') AS ended,
    concat('task-', toString(cityHash64(number) % {tasks:UInt64})), '1', 'checks', 'outcome',
    concat('class-', toString(cityHash64(number) % {tasks:UInt64} % 10)), 'attribute',
    concat('model-', toString(number % 2)), if(cityHash64(number, 'r') % 5 = 0, 'fail', 'pass')
FROM numbers({trials:UInt64})
"""
VERSIONS = """
INSERT INTO task_versions
SELECT 'p', concat('task-', toString(number)), '1', toDateTime64('2026-01-01 00:00:00', 3, 'UTC'), 1
FROM numbers({tasks:UInt64})
"""
TIMES = "start={start:String}, end={end:String}"
# Every column of every row is read: a count alone would let the engine skip the rates.
QUESTIONS = {
    "task_reliability": f"SELECT * FROM task_reliability({TIMES}, k={{k:UInt32}})",
    "task_reliability, ragged ends": f"SELECT * FROM task_reliability({TIMES}, k={{k:UInt32}})",
    "change_points": f"SELECT * FROM change_points({TIMES})",
    "suite_reliability": f"SELECT * FROM suite_reliability({TIMES}, k={{k:UInt32}})",
    "reliability_over_time, hourly, 7 days, all tasks": (
        "SELECT sum(n), sum(c), sum(pass_at_k), sum(pass_hat_k) FROM reliability_over_time("
        f"{TIMES}, step_s=3600, window_s=604800, k={{k:UInt32}})"
    ),
    "reliability_over_time, hourly, 7 days, one task with bands": (
        f"SELECT * FROM reliability_over_time({TIMES}, step_s=3600, window_s=604800, k={{k:UInt32}}) "
        "WHERE task_id = 'task-7'"
    ),
}


def measure(tasks: int, days: int, trials: int) -> list[Figures]:
    """Milliseconds of each question with some trials and with ten times as many in the same hours."""
    with TemporaryDirectory(prefix="passhat-bench-") as folder:
        place = load(env={}, overrides={"data": folder}).store
        Store.open(place, Path(folder)).close()  # makes the tables
        connections = Connections(Target(place.url, Path(folder)))
        told = []
        for times in (1, 10):
            fill(connections, tasks, days, trials * times)
            told += [asked(connections, name, days, trials * times) for name in QUESTIONS]
        connections.close()
    return told


def fill(connections: Connections, tasks: int, days: int, trials: int) -> None:
    """Trials spread evenly over the days, counted as a grading counts them."""
    given = {"end_ms": int(END.timestamp() * 1000), "span_ms": days * 86_400_000, "tasks": tasks}
    with connections.writer() as client:
        client.command("TRUNCATE TABLE run_hours")
        step = 10_000_000
        for first in range(0, trials, step):
            client.command(FILL, parameters={**given, "trials": min(step, trials - first), "first": first})
        client.command(VERSIONS, parameters={"tasks": tasks})
    for hours in hours_of(days):
        recount(connections, hours)
    with connections.writer() as client:
        for table in ("run_hours", "hour_counts", "day_counts"):
            client.command(f"OPTIMIZE TABLE {table} FINAL")


def hours_of(days: int) -> Iterator[list[Hour]]:
    """The hours of each day."""
    for day in range(days):
        start = int((END - timedelta(days=day + 1)).timestamp())
        yield [Hour("p", start + 3600 * hour) for hour in range(24)]


def asked(connections: Connections, name: str, days: int, trials: int) -> Figures:
    """The median time of one question, the least processor time, and the peak memory of the process so far."""
    end = END - timedelta(minutes=43) if "ragged" in name else END
    start = end - timedelta(days=7 if "over_time" in name else days)
    parameters = {"start": stamp_of(start), "end": stamp_of(end), "k": K}
    took, worked = [], []
    with connections.reader() as client:
        for _ in range(LOOKS):
            began, before = time.perf_counter(), time.process_time()
            found = client.query(QUESTIONS[name], parameters=parameters)
            took.append(1000 * (time.perf_counter() - began))
            worked.append(1000 * (time.process_time() - before))
    told = {"view": name, "trials": trials, "rows": found.row_count, "median_ms": round(statistics.median(took[1:]))}
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024  # of Linux: kilobytes
    return {**told, "cpu_ms": round(min(worked)), "peak_mib": peak_mib}


def stamp_of(time: datetime) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S.000")


def main() -> None:
    """Measure and tell."""
    parser = argparse.ArgumentParser(prog="python -m bench.reliability", description=__doc__)
    parser.add_argument("--tasks", type=int, default=1_000)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--trials", type=int, default=10_000_000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    told = measure(arguments.tasks, arguments.days, arguments.trials)
    tell("reliability views, k = 3", told, as_json=arguments.json)


if __name__ == "__main__":
    main()
