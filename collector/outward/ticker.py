"""A thread that takes one step after another, and later and later while steps fail."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

LONGEST_WAIT_S = 60.0

log = logging.getLogger("passhat.outward")


class Ticker:
    """Calls `step`, which says how many seconds it may wait for the next. An error costs a wait, never the thread."""

    def __init__(self, name: str, step: Callable[[], float]) -> None:
        self._step = step
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._name = name
        self.failures = 0
        self.last_error = ""

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout_s: float = 15.0) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(timeout_s)

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait inside a step; true when it was cut short because of `stop`."""
        return self._stop.wait(seconds)

    def _run(self) -> None:
        wait_s = 0.0
        while not self._stop.wait(wait_s):
            try:
                wait_s = self._step()
                self.failures, self.last_error = 0, ""
            except Exception as error:
                self.failures += 1
                if str(error) != self.last_error:
                    log.warning("%s: %s; tried again", self._name, error)
                self.last_error = str(error)[:500]
                wait_s = min(2.0 ** min(self.failures - 1, 10), LONGEST_WAIT_S)
