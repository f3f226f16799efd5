"""What every collector and every query must agree on: the checks in force, the trial policy, who is alive."""

from __future__ import annotations

from collections.abc import Mapping

from collector.store.client import Connections
from collector.store.reader import Reader


class Checks:
    """The registers of checks and policies."""

    def __init__(self, connections: Connections, reader: Reader) -> None:
        self._connections = connections
        self._reader = reader

    def register(self, digest: str, definitions: str) -> int:
        """The epoch of these checks. Going back to an earlier set is a new epoch: the newest registered is in force."""
        with self._connections.writer() as client:
            epoch, newest = self.in_force()
            if newest == digest:
                return epoch
            client.insert(
                "checks_versions", [[epoch + 1, digest, definitions]], column_names=["epoch", "digest", "definitions"]
            )
        return epoch + 1

    def in_force(self) -> tuple[int, str]:
        rows = self._reader.rows("SELECT epoch, digest FROM checks_versions FINAL ORDER BY epoch DESC LIMIT 1")
        return (int(rows[0][0]), str(rows[0][1])) if rows else (0, "")

    def set_policy(self, values: Mapping[str, str]) -> None:
        """Write what differs."""
        before = self.policy()
        rows = [[name, value] for name, value in sorted(values.items()) if before.get(name) != value]
        if rows:
            with self._connections.writer() as client:
                client.insert("policy", rows, column_names=["name", "value"])

    def policy(self) -> dict[str, str]:
        rows = self._reader.rows("SELECT name, value FROM policy FINAL")
        return {str(name): str(value) for name, value in rows}
