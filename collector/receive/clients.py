"""Who sent last, and what became of it: so that someone who sees no run can see where it went."""

from __future__ import annotations

import threading
import time

from msgspec import Struct

MOST = 1000  # clients remembered: names are the senders' own, so there may be any number


class Client(Struct):
    """One service of one project, since the start of the collector. Times are nanoseconds, 0 for never."""

    project: str
    service: str
    accepted: int = 0
    refused: int = 0
    last_accepted_ns: int = 0
    last_refused_ns: int = 0
    last_reason: str = ""


class Clients:
    """The clients seen last; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: dict[tuple[str, str], Client] = {}

    def accepted(self, senders: list[tuple[str, str, int]], refused: dict[str, int]) -> None:
        """A request was kept: (project, service, records) of its resources, and what of it was refused, by reason."""
        now = time.time_ns()
        with self._lock:
            for project, service, records in senders:
                client = self._client(project, service)
                client.accepted += records
                client.last_accepted_ns = now
                if refused:
                    client.last_refused_ns, client.last_reason = now, ", ".join(sorted(refused))
            if refused and senders:
                self._client(*senders[0][:2]).refused += sum(refused.values())

    def refused(self, senders: list[tuple[str, str, int]], reason: str, records: int) -> None:
        """A request was refused whole; when it could not even be read, its sender is unknown ('', '')."""
        now = time.time_ns()
        with self._lock:
            for project, service, _ in senders[:1] or [("", "", 0)]:
                client = self._client(project, service)
                client.refused += records
                client.last_refused_ns, client.last_reason = now, reason

    def _client(self, project: str, service: str) -> Client:
        key = (project, service)
        client = self._seen.pop(key, None) or Client(project, service)
        self._seen[key] = client  # last seen, last forgotten
        if len(self._seen) > MOST:
            self._seen.pop(next(iter(self._seen)))
        return client

    def seen(self) -> list[Client]:
        """All that are remembered, the last one first."""
        with self._lock:
            return [Client(*(getattr(c, f) for f in c.__struct_fields__)) for c in reversed(self._seen.values())]
