"""What has to be done now and then: runs removed to the end, lines of earlier revisions cleared away."""

from __future__ import annotations

import logging
import threading
import time

from collector.removals import Removals
from collector.store.store import Store

log = logging.getLogger("passhat.upkeep")

PENDING_S = 1.0  # between two looks while a removal is under way
IDLE_S = 10.0  # else: another collector may have begun one
SWEEP_S = 3600.0


class Upkeep:
    """One thread beside the pipeline. What fails is tried again, and said."""

    def __init__(self, store: Store, removals: Removals) -> None:
        self._store = store
        self._removals = removals
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="upkeep", daemon=True)
        self._swept_at = time.monotonic()
        self.last_error = ""

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout_s: float = 5.0) -> None:
        """What is under way goes on at the next start."""
        self._stop.set()
        self._removals.stopped = True
        self._removals.asked.set()
        self._thread.join(timeout_s)

    def _run(self) -> None:
        while not self._stop.is_set():
            self._removals.asked.clear()
            left = self.step(time.monotonic())
            if left:
                self._stop.wait(PENDING_S)
            else:
                self._removals.asked.wait(IDLE_S)

    def step(self, now_s: float) -> int:
        """Removals as far as they go; once an hour what no view shows any more. How much is left to try."""
        try:
            left = self._removals.advance()
            if now_s - self._swept_at >= SWEEP_S:
                self._store.sweep()
                self._removals.tidy()
                self._swept_at = now_s  # only now: a store that was away is swept when it is back
            self.last_error = ""
        except Exception as error:  # the store may be away
            left, self.last_error = 1, str(error)[:500]
            log.warning("upkeep failed, tried again: %s", self.last_error)
        return left
