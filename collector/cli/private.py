"""A collector for one command: loopback, free ports, quick to grade, gone at the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from collector.errors import StoreError

if TYPE_CHECKING:
    from collector.config import Config
    from collector.pipeline import Addresses, Collector

T = TypeVar("T")

SETTLE_S = 0.3
IDLE_S = 2.0
POLL_S = 0.05
PATIENCE_S = 120.0


class Running:
    """A collector that accepts, and where."""

    def __init__(self, collector: Collector, at: Addresses) -> None:
        self.collector = collector
        self.at = at

    def settled(self, patience_s: float = PATIENCE_S) -> None:
        """Wait until all that was accepted is stored, and all that is over is graded. Raises StoreError."""
        what, status = "what was sent to be graded", self.collector.status
        until(status, lambda told: told["spool"]["entries"] == 0, what, patience_s)
        for _ in range(2):  # what one look graded may have its task judged again in the next
            stored_ns = self.collector.store.now_ns()
            until(status, partial(at_rest, stored_ns), what, patience_s)


def at_rest(stored_ns: int, status: dict[str, Any]) -> bool:
    """All that was stored by then was looked at, and nothing of it waits to be graded."""
    lag = status["lag"]
    return bool(lag["as_of_ns"] >= stored_ns and lag["units_waiting"] == 0)


@contextmanager
def private_collector(config: Config) -> Iterator[Running]:
    """A collector over this configuration's store and checks, on free loopback ports."""
    from collector.pipeline import Collector

    collector = Collector(quick(config))
    try:
        yield Running(collector, collector.start())
    finally:
        collector.stop()


def quick(config: Config) -> Config:
    """Free loopback ports, no tokens, and a run is over as soon as it is quiet: nobody else sends to it."""
    anywhere = "127.0.0.1:0"
    listen = type(config.listen)(grpc=anywhere, http=anywhere, web=anywhere)
    auth = config.auth.model_copy(update={"tokens": (), "tokens_file": None})
    times = {"settle_s": min(SETTLE_S, config.runs.settle_s), "idle_s": min(IDLE_S, config.runs.idle_s)}
    runs = config.runs.model_copy(update=times)
    return config.model_copy(update={"listen": listen, "auth": auth, "runs": runs})


def until(say: Callable[[], T], holds: Callable[[T], bool], what: str, patience_s: float) -> T:
    """The first answer that holds. Raises StoreError when none does in time."""
    deadline = time.monotonic() + patience_s
    while True:
        answer = say()
        if holds(answer):
            return answer
        if time.monotonic() > deadline:
            raise StoreError(f"waited {patience_s:.0f} s for {what}", hint="`passhat doctor` looks at every stage")
        time.sleep(POLL_S)
