"""How long the reliability views take over 30 days of hour counts, and whether more trials in the same hours matter.

python -m bench.reliability [--tasks 1000] [--days 30] [--json]
"""

from __future__ import annotations

import argparse
import statistics
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.telling import Figures, tell
from collector.config import load
from collector.store.client import Connections, Target
from collector.store.store import Store

LOOKS = 7
TRIALS_PER_CELL = 14  # 1,000 tasks over 30 days: 10 million trials
END = datetime(2026, 6, 1, tzinfo=UTC)
K = 3

# A cell an hour for each task. Results differ from task to task and hour to hour.
FILL = """
INSERT INTO hour_counts
(project, hour, task_id, task_version, checks_version, basis, task_class, task_source, pass, fail, stamp)
SELECT 'p', toDateTime({end:Int64} - 3600 * (1 + intDiv(number, {tasks:UInt64})), 'UTC') AS hour,
    concat('task-', toString(number % {tasks:UInt64})), '1', 'checks', 'outcome',
    concat('class-', toString(number % 10)), 'attribute', {trials:UInt64} - fail_,
    cityHash64(number) % (1 + intDiv({trials:UInt64}, 3)) AS fail_, {stamp:UInt64}
FROM numbers({tasks:UInt64} * {hours:UInt64})
"""
VIEWS = ("task_reliability", "suite_reliability")


def measure(tasks: int, days: int) -> list[Figures]:
    """Milliseconds of each question with some trials and with ten times as many in the same hours."""
    with TemporaryDirectory(prefix="passhat-bench-") as folder:
        place = load(env={}, overrides={"data": folder}).store
        Store.open(place, Path(folder)).close()  # makes the tables; opened again it would recount hours without runs
        connections = Connections(Target(place.url, Path(folder)))
        told: list[Figures] = []
        for stamp, trials in enumerate((TRIALS_PER_CELL, 10 * TRIALS_PER_CELL), 1):
            parameters = {
                "end": int(END.timestamp()), "tasks": tasks, "hours": 24 * days, "trials": trials, "stamp": stamp
            }  # fmt: skip
            with connections.writer() as client:
                client.command(FILL, parameters=parameters)
                client.command("OPTIMIZE TABLE hour_counts FINAL")
            told += [asked(connections, name, days) for name in VIEWS]
        connections.close()
    return told


def asked(connections: Connections, name: str, days: int) -> Figures:
    """The median time of one question over a window with ragged ends."""
    end = END - timedelta(minutes=1)
    parameters = {"start": stamp_of(end - timedelta(days=days)), "end": stamp_of(end), "k": K}
    # Every column of every row, as people read it: a count alone would let the engine skip the rates.
    sql = f"SELECT * FROM {name}(start={{start:String}}, end={{end:String}}, k={{k:UInt32}})"
    took = []
    with connections.reader() as client:
        for _ in range(LOOKS):
            began = time.perf_counter()
            found = client.query(sql, parameters=parameters)
            took.append(1000 * (time.perf_counter() - began))
    trials = max(found.result_columns[found.column_names.index("n")])
    return {
        "view": name,
        "most_trials": trials,
        "rows": found.row_count,
        "median_ms": round(statistics.median(took[1:])),
    }


def stamp_of(time: datetime) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S.000")


def main() -> None:
    """Measure and tell."""
    parser = argparse.ArgumentParser(prog="python -m bench.reliability", description=__doc__)
    parser.add_argument("--tasks", type=int, default=1_000)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    told = measure(arguments.tasks, arguments.days)
    tell("reliability views from hour counts, k = 3", told, as_json=arguments.json)


if __name__ == "__main__":
    main()
