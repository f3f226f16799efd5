"""How long a run waits for its verdict once it is due, at half of the load that the collector can take.

    python -m bench.verdicts [--spans 60000] [--rate 0] [--seconds 20] [--json]

Due is when the last span of a run was stored, plus `runs.settle_s` (1 s here); the verdict is there when its row can be
read. First the full load with grading on is measured, then half of it is sent at a steady pace; `--rate` sends so many
spans a second instead.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path

from bench.ingest import Process, full_load, send, wait_for
from bench.telling import Figures, tell

SPANS_A_RUN = 15


def measure(transport: str, spans: int, rate: float, seconds: float) -> list[Figures]:
    """Waiting times at a rate of spans a second, at half load where it is 0."""
    rate = rate or full_load(transport, "on", spans)["spans_per_s"] / 2
    with tempfile.TemporaryDirectory(prefix="passhat-bench-") as folder:
        collector = Process("bench.collecting", Path(folder) / "data", "on", "fsync")
        address = json.loads(collector.line())[transport]
        sent = send(transport, address, int(rate * seconds), rate)
        wait_for(collector, "graded", sent["spans"] // SPANS_A_RUN)
        waited = collector.ask("waited")
        collector.close()
    took = sent["ended"] - sent["began"]
    return [
        {
            "transport": transport,
            "spans_per_s": round(sent["spans"] / took),
            "runs_per_s": round(waited["runs"] / took),
            "runs": round(waited["runs"]),
            **{f"{name}_s": round(waited[name], 2) for name in ("p50", "p99", "longest")},
            "machine_load": round(os.getloadavg()[0], 1),
        }
    ]


def main() -> None:
    """Measure and tell."""
    parser = argparse.ArgumentParser(prog="python -m bench.verdicts", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--transport", choices=("http", "grpc"), default="http")
    parser.add_argument("--spans", type=int, default=60_000, help="spans of the full load [60000]")
    parser.add_argument("--rate", type=float, default=0.0, help="spans a second, instead of half of the full load")
    parser.add_argument("--seconds", type=float, default=20.0, help="how long half of it is sent [20]")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    asked = parser.parse_args()
    figures = measure(asked.transport, asked.spans, asked.rate, asked.seconds)
    tell("from due to verdict", figures, as_json=asked.json)


if __name__ == "__main__":
    main()
