"""What one request may cost, and how much may be in flight at once."""

from __future__ import annotations

import threading

from msgspec import Struct

MIB = 1 << 20


class Limits(Struct, frozen=True):
    """Bytes, counts and seconds. The defaults are what OTLP 1.11.0 recommends, where it says anything."""

    max_request_bytes: int = 64 * MIB  # of one request, as sent and inflated
    max_response_bytes: int = 4 * MIB
    inflight_bytes: int = 256 * MIB  # of all requests being read or made durable
    inflight_wait_s: float = 0.5  # how long a request waits for its share of them before it is refused
    read_timeout_s: float = 30.0  # for the whole of one request, header or body
    ack_timeout_s: float = 5.0  # stock exporters give up after 10 s in all
    max_records: int = 200_000  # spans or log records of one request
    max_attributes: int = 10_000  # of one span, event, link or log record
    max_value_bytes: int = 8 * MIB  # of one text or bytes value


class InFlight:
    """A budget of bytes shared by all requests; thread-safe."""

    def __init__(self, capacity: int) -> None:
        self._free = capacity
        self._lock = threading.Lock()

    def take(self, size: int) -> bool:
        """Takes `size` bytes when they are free."""
        with self._lock:
            if size > self._free:
                return False
            self._free -= size
            return True

    def give(self, size: int) -> None:
        """Gives back what was taken."""
        with self._lock:
            self._free += size
