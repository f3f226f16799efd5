"""How fast the normaliser is alone: protobuf → spans → facts → rows → Arrow, one thread, no store.

In CPU time, the best of five rounds: neighbours on a busy machine cost a thread time, but hardly CPU time. `stamped`
puts the identity of the run on every span, as harnesses do that pass it down as baggage.

python -m bench.normalise [--spans 10000] [--json]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from msgspec.structs import replace

from bench.batches import requests
from bench.telling import tell
from collector.config import load
from collector.normalise.unpack import spans_of
from collector.store.client import Connections, Target
from collector.store.columns import TableColumns, table_types
from collector.store.rows import SpanRow, span_row
from collector.store.store import Store
from semconv.resolve import facts_of
from semconv.words import Words

T = TypeVar("T")
ROUNDS = 5
STAMP = {"passhat.task.id": "task-1", "passhat.trial.id": "0", "passhat.run.id": "run-1"}


def measure(spans: int) -> list[dict[str, object]]:
    """Spans a second of each step, and of all; the facts of stamped spans stand beside."""
    payloads = [request.payload for request in requests(spans)]
    words = Words()
    columns = span_columns()
    took: dict[str, float] = {}

    unpacked = timed(took, "unpack", lambda: [span for payload in payloads for span in spans_of(payload)])
    facts = timed(took, "facts", lambda: [facts_of(span, words) for span in unpacked])
    rows = timed(
        took, "rows", lambda: [span_row("p", 1, span, found) for span, found in zip(unpacked, facts, strict=True)]
    )
    timed(took, "columns", lambda: [columns.arrow(rows[i : i + 10_000]) for i in range(0, len(rows), 10_000)])
    took["all"] = sum(took.values())
    stamped = [replace(span, attributes={**span.attributes, **STAMP}) for span in unpacked]
    timed(took, "facts, stamped", lambda: [facts_of(span, words) for span in stamped])
    return [
        {"step": step, "us_per_span": round(1e6 * seconds / len(rows), 1), "spans_per_s": round(len(rows) / seconds)}
        for step, seconds in took.items()
    ]


def timed(took: dict[str, float], step: str, work: Callable[[], T]) -> T:
    """What `work` gives; the CPU seconds of its best round go into `took`."""
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.process_time()
        made = work()
        best = min(best, time.process_time() - began)
    took[step] = best
    return made


def span_columns() -> TableColumns:
    """The columns of the real `spans` table."""
    with TemporaryDirectory(prefix="passhat-bench-") as folder:
        config = load(env={}, overrides={"data": folder})
        Store.open(config.store, Path(folder)).close()
        connections = Connections(Target(config.store.url, Path(folder)))
        with connections.writer() as client:
            types = table_types(client, connections.target.database)
        connections.close()
    return TableColumns("spans", SpanRow, types["spans"])


def main() -> None:
    """Measure and tell."""
    parser = argparse.ArgumentParser(prog="python -m bench.normalise", description=__doc__)
    parser.add_argument("--spans", type=int, default=10_000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    tell("normalise: one thread, from bytes to Arrow", measure(arguments.spans), as_json=arguments.json)


if __name__ == "__main__":
    main()
