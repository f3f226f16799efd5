"""A real collector for a measurement: in its own process, told by lines on stdin.

`count` answers how many spans can be queried, what it costs in memory and what waits, `waited` how long verdicts took;
end of input stops it.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

from collector.config import load
from collector.pipeline import Collector


def main(data: Path, grading: str, durability: str) -> None:
    """Serve from `data` until stdin ends; `grading` is `on` or `paused`, `durability` as in the configuration."""
    ports = {f"listen.{name}.port": 0 for name in ("grpc", "http", "web")}
    config = load(env={}, overrides={"data": str(data), "runs.settle_s": 1, "spool.durability": durability, **ports})
    collector = Collector(config)
    collector.loop.paused = grading == "paused"
    at = collector.start()
    say({"grpc": at.grpc, "http": at.http, "web": at.web})
    for line in sys.stdin:
        if line.strip() == "count":
            say(counted(collector))
        elif line.strip() == "waited":
            say(waited(collector))
    collector.stop()


def counted(collector: Collector) -> dict[str, float]:
    """What can be queried at this moment, each span and run once."""
    store = collector.store
    (spans,) = store.query("SELECT uniqExact(project, trace_id, span_id) FROM spans").rows[0]
    (runs,) = store.query("SELECT uniqExact(project, run_id) FROM runs").rows[0]
    (graded,) = store.query("SELECT count() FROM runs FINAL WHERE NOT open").rows[0]
    usage = resource.getrusage(resource.RUSAGE_SELF)
    to_mib = 1024 if sys.platform != "darwin" else 1024 * 1024
    return {
        "spans": spans,
        "runs": runs,
        "graded": graded,
        "waiting": collector.loop.waiting,
        "peak_mib": usage.ru_maxrss / to_mib,
        "cpu_s": usage.ru_utime + usage.ru_stime,
    }


def waited(collector: Collector) -> dict[str, float]:
    """Seconds from due (stored for the last time, then settled) to the row of the closed run."""
    sql = """SELECT
            count() AS runs, quantileExact(0.5)(lag) AS p50, quantileExact(0.99)(lag) AS p99, max(lag) AS longest
        FROM
        (
            SELECT (toUnixTimestamp64Nano(graded_at) - stored_ns) / 1e9 - {settle_s:Float64} AS lag
            FROM (SELECT units[1] AS unit, graded_at FROM runs FINAL WHERE NOT open) AS closed
            INNER JOIN
            (
                SELECT unit, max(toUnixTimestamp64Nano(stored_at)) AS stored_ns
                FROM arrivals
                WHERE spans > 0
                GROUP BY unit
            ) AS arrived USING (unit)
        )"""
    return collector.store.query(sql, {"settle_s": collector.config.runs.settle_s}).dicts()[0]


def say(what: object) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
