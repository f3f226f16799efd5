"""Reliability of tasks as Prometheus gauges: the views of the last seven days, for the most tried tasks only.

A label a task is a series a task: past a cap they are left out, and how many were is a gauge of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from threading import Lock

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from collector.errors import PasshatError
from collector.serve.reliability import bounds_of
from collector.serve.sql import Row, read
from collector.serve.times import Window
from collector.store.store import Store

K = 3
MOST_TASKS = 200
FRESH_MS = 60_000  # scrapes come every few seconds, from more than one place
WINDOW_MS = 7 * 86_400_000
LABELS = ("project", "task_id", "task_version", "checks_version", "basis")
GAUGES = {
    "n": ("passhat_task_trials", "Trials of the last seven days that count"),
    "c": ("passhat_task_passed", "Trials of the last seven days that passed"),
    "pass_hat_k": ("passhat_task_pass_hat_3", "pass^3 over the last seven days; absent below three trials"),
    "pass_at_k": ("passhat_task_pass_at_3", "pass@3 over the last seven days; absent below three trials"),
    "low": ("passhat_task_pass_hat_3_low", "Lower end of pass^3, per look at 95 %"),
    "high": ("passhat_task_pass_hat_3_high", "Upper end of pass^3, per look at 95 %"),
}


class TaskGauges:
    """The gauges over one store, read anew at most once a minute for each set of projects."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = Lock()
        self._read: dict[tuple[str, ...], tuple[int, list[Row]]] = {}

    def collect(self, projects: Sequence[str]) -> Iterator[Metric]:
        """The families; none while the store is away, so that what passhat counts of itself is still told."""
        try:
            rows = self._rows(tuple(projects))
        except PasshatError:
            return
        for column, (name, what) in GAUGES.items():
            family = GaugeMetricFamily(name, what, labels=LABELS)
            for row in rows:
                if row[column] is not None:
                    family.add_metric([row[label] for label in LABELS], row[column])
            yield family
        left_out = rows[0]["of"] - len(rows) if rows else 0
        yield GaugeMetricFamily("passhat_tasks_left_out", f"Rows of tasks beyond the {MOST_TASKS} told", left_out)

    def forget(self) -> None:
        """Read them anew at the next scrape: a run was removed."""
        with self._lock:
            self._read.clear()

    def _rows(self, projects: tuple[str, ...]) -> list[Row]:
        with self._lock:
            now_ms = self._store.now_ns() // 1_000_000
            at_ms, rows = self._read.get(projects, (-FRESH_MS, []))
            if now_ms - at_ms >= FRESH_MS:
                bounds = bounds_of(Window(now_ms - WINDOW_MS, now_ms))
                rows = read(
                    self._store, "task_gauges", {**bounds, "k": K, "limit": MOST_TASKS, "project": list(projects)}
                )
                self._read[projects] = (now_ms, rows)
            return rows


class Together:
    """What passhat counts of itself, then the gauges of tasks: as one registry, for an encoder."""

    def __init__(self, own: Iterator[Metric], tasks: Iterator[Metric]) -> None:
        self._parts = (own, tasks)

    def collect(self) -> Iterator[Metric]:
        for part in self._parts:
            yield from part
