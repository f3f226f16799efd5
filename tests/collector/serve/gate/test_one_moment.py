"""A gate decides on one moment, however many trials arrive while it reads."""

from __future__ import annotations

import threading
from typing import Any

from collector.config.keys import GateConfig
from collector.serve.gate.numbers import numbers_of
from collector.serve.times import Window
from collector.store.store import Store
from tests.collector.serve.gate.test_simulated import FILTERS
from tests.collector.serve.made import NOON_NS, grading

LOOKS, MOST = 2, 60


def test_trials_that_arrive_meanwhile_count_everywhere_or_nowhere(store: Store) -> None:
    """Reading a table's parts is slowed down, and trials are written one by one, each a second after the other."""
    began_ms = NOON_NS // 1_000_000
    stop = threading.Event()

    def write() -> None:
        written = 0
        while written < MOST and not stop.is_set():
            store.write_gradings([grading(f"r{written}", at_s=written)])
            written += 1

    window = Window(began_ms - 86_400_000, began_ms + 900_000)  # all of them in the hour that is read from run rows
    writer = threading.Thread(target=write)
    writer.start()
    try:
        seen = [look(store, window) for _ in range(LOOKS)]
    finally:
        stop.set()
        writer.join()
    for row in seen:
        assert row["recent_n"] == row["n"], "two counts of the same trials"
        assert row["newest_ms"] == (None if row["n"] == 0 else began_ms + 1000 * (row["n"] - 1))
    assert len({row["n"] for row in seen}) > 1, "nothing arrived meanwhile"


def look(store: Store, window: Window) -> dict[str, Any]:
    slowed = Slowed(store)
    row = numbers_of(slowed, GateConfig(), {**FILTERS, "basis": []}, window, "class").row  # type: ignore[arg-type]
    assert isinstance(row, dict)
    return row


class Slowed:
    """The store, its engine waiting a little before it looks which parts a table has."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def query(self, sql: str, parameters: dict[str, Any]) -> Any:
        return self._store.query(f"{sql}\nSETTINGS merge_tree_storage_snapshot_sleep_ms = 30", parameters)
