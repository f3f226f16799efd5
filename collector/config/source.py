"""Where each configured value came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

KeyPath: TypeAlias = tuple[str | int, ...]


@dataclass
class Source:
    """Origins by key path, the values read from secret variables, and warnings.

    An origin is `default`, `passhat.yaml:12`, an environment variable's name or a flag's.
    """

    file: Path | None = None
    origins: dict[KeyPath, str] = field(default_factory=dict)
    ranks: dict[KeyPath, int] = field(default_factory=dict)
    secrets: list[str] = field(default_factory=list)
    warnings: tuple[str, ...] = ()

    def where(self, path: Sequence[str | int]) -> str:
        """The origin of the value, or of the nearest enclosing one that has one; '' for a default."""
        return next((self.origins[key] for key in _upwards(path) if key in self.origins), "")

    def rank(self, path: Sequence[str | int]) -> int:
        """0 for a default, 1 for the file, 2 for the environment, 3 for a flag."""
        return next((self.ranks[key] for key in _upwards(path) if key in self.ranks), 0)

    def forget(self, path: KeyPath) -> None:
        """A stronger layer replaces the value: what was known of it and of what lies below it no longer holds."""
        for table in (self.origins, self.ranks):
            for known in [key for key in table if key[: len(path)] == path]:
                del table[known]

    def record(self, path: KeyPath, origin: str, rank: int) -> None:
        """A layer set the value at `path`."""
        self.origins[path] = origin
        self.ranks[path] = rank


def _upwards(path: Sequence[str | int]) -> list[KeyPath]:
    return [tuple(path[:length]) for length in range(len(path), 0, -1)]
