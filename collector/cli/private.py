"""A collector for one command: loopback, free ports, quick to grade, gone at the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from collector.errors import StoreError

if TYPE_CHECKING:
    from collector.config import Config
    from collector.pipeline import Addresses, Collector

T = TypeVar("T")

SETTLE_S = 0.3
IDLE_S = 2.0
POLL_S = 0.05
# The grading loop looks at least once a second: what is at rest for longer has been looked at since it was stored.
REST_S = 1.5
PATIENCE_S = 120.0


class Running:
    """A collector that accepts, and where."""

    def __init__(self, collector: Collector, at: Addresses) -> None:
        self.collector = collector
        self.at = at

    def settled(self, patience_s: float = PATIENCE_S) -> None:
        """Wait until all that was accepted is stored, and all that is over is graded. Raises StoreError."""
        busy_at = time.monotonic()

        def rested() -> float:
            nonlocal busy_at
            if not at_rest(self.collector.status()):
                busy_at = time.monotonic()
            return time.monotonic() - busy_at

        until(rested, lambda rest_s: rest_s >= REST_S, "what was sent to be graded", patience_s)


def at_rest(status: dict[str, Any]) -> bool:
    """Nothing is only in the spool, nothing waits to be graded."""
    return bool(status["spool"]["entries"] == 0 and status["lag"]["units_waiting"] == 0)


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
