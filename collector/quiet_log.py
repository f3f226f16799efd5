"""Log lines that a client could cause a thousand times a second, said at most once a minute each."""

from __future__ import annotations

import logging
import threading
import time


class QuietLog:
    """Says a line of one `key` at most every `every_s` seconds, with the number of those left out meanwhile."""

    def __init__(self, logger: logging.Logger, every_s: float = 60.0) -> None:
        self._logger = logger
        self._every_s = every_s
        self._lock = threading.Lock()
        self._said: dict[str, tuple[float, int]] = {}  # key -> (when last said, left out since)

    def say(self, level: int, key: str, message: str, *values: object) -> None:
        """Logs `message % values`; keys must be few (reasons, not what clients send)."""
        now = time.monotonic()
        with self._lock:
            said_at, left_out = self._said.get(key, (-self._every_s, 0))
            if now - said_at < self._every_s:
                self._said[key] = (said_at, left_out + 1)
                return
            self._said[key] = (now, 0)
        if left_out:
            message, values = f"{message} (and %d more like it)", (*values, left_out)
        self._logger.log(level, message, *values)
