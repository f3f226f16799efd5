"""A real collector for a measurement: in its own process, told by lines on stdin.

`count` answers how many spans can be queried, what it costs in memory and what waits; end of input stops it.
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
    collector.stop()


def counted(collector: Collector) -> dict[str, float]:
    """What can be queried at this moment, each span and run once."""
    store = collector.store
    (spans,) = store.query("SELECT uniqExact(project, trace_id, span_id) FROM spans").rows[0]
    (runs,) = store.query("SELECT uniqExact(project, run_id) FROM runs").rows[0]
    usage = resource.getrusage(resource.RUSAGE_SELF)
    to_mib = 1024 if sys.platform != "darwin" else 1024 * 1024
    return {
        "spans": spans,
        "runs": runs,
        "waiting": collector.loop.waiting,
        "peak_mib": usage.ru_maxrss / to_mib,
        "cpu_s": usage.ru_utime + usage.ru_stime,
    }


def say(what: object) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
