"""How fast spans come in: accepted, durable and queryable, against the floor of the same run.

    python -m bench.ingest                       HTTP and gRPC, grading paused and on
    python -m bench.ingest --spans 20000 --json  a quick look

Each figure comes from a fresh collector process and a separate sender process on this machine. Compare ratios, not
figures of different machines or different days.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.telling import table

PATIENCE_S = 300.0
POLL_S = 0.1
HALF_LOAD_S = 30.0
RUNS = 34  # of 15 spans a request: 510 spans are what batch processors send by default
FEW_RUNS = 2  # at half load: enough requests for a p99 that is not the worst of a handful


class Process:
    """A Python module as a process that talks in lines of JSON."""

    def __init__(self, module: str, *arguments: object) -> None:
        command = [sys.executable, "-m", module, *map(str, arguments)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def line(self) -> str:
        """The next line it says; exits when it says none."""
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{self._process.args!r} ended early")
        return line.strip()

    def ask(self, what: str) -> Any:
        self.tell(what)
        return json.loads(self.line())

    def tell(self, what: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(what + "\n")
        self._process.stdin.flush()

    def close(self) -> None:
        """End of input, then wait; a process that does not end is killed."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


def floor(spans: int) -> dict[str, float]:
    """The floor, in a process of its own."""
    process = Process("bench.floor", spans)
    told: dict[str, float] = json.loads(process.line())
    process.close()
    return told


def full_load(transport: str, grading: str, spans: int) -> dict[str, Any]:
    """As fast as the sender can: spans a second until the last one can be queried."""
    with tempfile.TemporaryDirectory(prefix="passhat-bench-") as folder:
        collector = Process("bench.collecting", Path(folder) / "data", grading, "fsync")
        address = json.loads(collector.line())[transport]
        sent = send(transport, address, spans)
        queryable, seen = wait_for(collector, "spans", sent["spans"])
        collector.close()
        stored = size_of(Path(folder))  # not before: merges take files away while they are counted
    return {
        "transport": transport,
        "grading": grading,
        "spans": sent["spans"],
        "queryable": seen["spans"],
        "bytes_per_span": round(sent["bytes"] / sent["spans"]),
        "spans_per_s": round(sent["spans"] / (queryable - sent["began"])),
        "acknowledged_per_s": round(sent["spans"] / (sent["ended"] - sent["began"])),
        "refused": sent["refused"],
        "ack_p50_ms": round(sent["ack_p50_ms"], 1),
        "ack_p99_ms": round(sent["ack_p99_ms"], 1),
        "peak_mib": round(seen["peak_mib"]),
        "cpu_s": round(seen["cpu_s"], 1),
        "disk_share": round(stored / sent["bytes"], 3),
    }


def half_load(transport: str, grading: str, durability: str, spans_per_s: float) -> dict[str, Any]:
    """At half of what it can: how long an acknowledgement takes."""
    rate = spans_per_s / 2
    with tempfile.TemporaryDirectory(prefix="passhat-bench-") as folder:
        collector = Process("bench.collecting", Path(folder) / "data", grading, durability)
        address = json.loads(collector.line())[transport]
        sent = send(transport, address, int(rate * HALF_LOAD_S), rate, FEW_RUNS)
        wait_for(collector, "spans", sent["spans"])
        collector.close()
    return {
        "transport": transport,
        "grading": grading,
        "durability": durability,
        "requests": sent["requests"],
        "spans_per_s": round(sent["spans"] / (sent["ended"] - sent["began"])),
        "ack_p50_ms": round(sent["ack_p50_ms"], 1),
        "ack_p99_ms": round(sent["ack_p99_ms"], 1),
    }


def send(transport: str, address: str, spans: int, spans_per_s: float = 0.0, runs: int = RUNS) -> dict[str, float]:
    """Run one sender to its end."""
    sender = Process("bench.sending", transport, address, spans, spans_per_s, runs)
    sender.line()
    told: dict[str, float] = sender.ask("go")
    sender.close()
    return told


def wait_for(collector: Process, what: str, expected: float) -> tuple[float, dict[str, float]]:
    """The time at which so many can be queried, and what the collector said then."""
    deadline = time.time() + PATIENCE_S
    while True:
        seen = collector.ask("count")
        if seen[what] >= expected:
            if seen[what] > expected:
                raise SystemExit(f"{seen[what]} {what} where {expected} were sent")
            return time.time(), seen
        if time.time() > deadline:
            raise SystemExit(f"only {seen[what]} of {expected} {what} after {PATIENCE_S:.0f} s")
        time.sleep(POLL_S)


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """All figures asked for; the floor before and after, because machines get busy."""
    floors = [floor(arguments.spans)["spans_per_s"]]
    cases = [(grading, transport) for grading in arguments.grading for transport in arguments.transport]
    full = [full_load(transport, grading, arguments.spans) for grading, transport in cases]
    floors.append(floor(arguments.spans)["spans_per_s"])
    best = max(floors)
    for one in full:
        one["of_floor"] = round(one["spans_per_s"] / best, 2)
    half = [] if arguments.no_half_load else [
        half_load(one["transport"], one["grading"], durability, one["spans_per_s"])
        for one in full
        for durability in arguments.durability
    ]  # fmt: skip
    return {"floor_spans_per_s": [round(one) for one in floors], "full_load": full, "half_load": half}


def main() -> None:
    """Measure and tell."""
    parser = argparse.ArgumentParser(prog="python -m bench.ingest", description=__doc__.splitlines()[0])
    parser.add_argument("--spans", type=int, default=300_000, help="spans of each measurement [300000]")
    parser.add_argument("--transport", nargs="+", choices=("http", "grpc"), default=["http", "grpc"])
    parser.add_argument("--grading", nargs="+", choices=("paused", "on"), default=["paused", "on"])
    parser.add_argument(
        "--durability", nargs="+", choices=("fsync", "os"), default=["fsync", "os"], help="at half load"
    )
    parser.add_argument("--no-half-load", action="store_true", help="leave out the acknowledgement times at half load")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    arguments = parser.parse_args()
    told = measure(arguments)
    if arguments.json:
        print(json.dumps(told))
        return
    print(f"floor (parse, flatten, insert): {', '.join(map(str, told['floor_spans_per_s']))} spans/s, before and after")
    print("\nas fast as it goes, until the last span can be queried")
    print(table(told["full_load"]))
    if told["half_load"]:
        print("\nat half of that")
        print(table(told["half_load"]))


if __name__ == "__main__":
    main()
