"""Hour and day counts, recomputed where a grading touched them: from what is stored, safe to repeat."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from msgspec import Struct

from collector.store.client import Connections
from collector.store.reader import Reader
from collector.store.sqlfiles import statement

HOUR_MS = 3_600_000
DAY_S = 86_400
MOST_HOURS = 96  # also below the hundred partitions that one insert may touch (code 252)


class Hour(Struct, frozen=True, order=True):
    """One hour of one project. `at_s` is its start, s since the epoch."""

    project: str
    at_s: int

    @property
    def month(self) -> str:
        return datetime.fromtimestamp(self.at_s, UTC).strftime("%Y%m")

    @property
    def text(self) -> str:
        """The hour as ClickHouse reads it."""
        return datetime.fromtimestamp(self.at_s, UTC).strftime("%Y-%m-%d %H:%M:%S")


def recount(connections: Connections, hours: Iterable[Hour]) -> None:
    """Count the hours anew, then the days they are in."""
    touched = sorted(set(hours))
    days = {(hour.project, hour.at_s // DAY_S * DAY_S) for hour in touched}
    of_days = [Hour(project, day + 3600 * n) for project, day in sorted(days) for n in range(24)]
    with connections.writer() as client:
        for name, some in (("counts/hours", touched), ("counts/days", of_days)):
            for group in slices(some):
                client.command(statement(name), parameters={"hours": [(hour.project, hour.text) for hour in group]})


def slices(hours: list[Hour]) -> Iterable[list[Hour]]:
    """The hours in groups small enough for one statement: over HTTP its parameters are in the URL."""
    for start in range(0, len(hours), MOST_HOURS):
        yield hours[start : start + MOST_HOURS]


def stale_hours(reader: Reader) -> list[Hour]:
    """Hours whose counts are not of what is stored: a crash between a run's row and its recount."""
    return [Hour(project, int(hour.timestamp())) for project, hour in reader.rows(statement("counts/stale"))]


def hour_of(ms: int) -> int:
    """The start of the hour of a time in ms, in s."""
    return ms // HOUR_MS * 3600
