"""Hour counts, recomputed for the hours a grading touched: in one statement, from what is stored, safe to repeat."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from msgspec import Struct

from collector.store.client import Connections
from collector.store.reader import Reader

HOUR_MS = 3_600_000
DIMENSIONS = (
    "project, hour, task_id, task_version, checks_version, basis, task_class, task_source, retry, "
    "environment, service, service_version, agent, model"
)
COUNTS = {
    "pass": "result = 'pass'",
    "fail": "result = 'fail'",
    "error": "result = 'error'",
    "invalid": "result = 'invalid'",
    "awaiting_outcome": "result = 'unknown' AND reason = 'awaiting_outcome'",
    "nothing_judged": "result = 'unknown' AND reason = 'nothing_judged'",
    "evidence": "result = 'unknown' AND reason NOT IN ('awaiting_outcome', 'nothing_judged')",
    "incomplete": "result = 'incomplete'",
    "pending": "result = 'pending'",
}
_HOURS = "{hours:Array(Tuple(String, DateTime('UTC')))}"


class Hour(Struct, frozen=True):
    """One hour of one project. `at_s` is its start, s since the epoch."""

    project: str
    at_s: int


# Live rows, and zeros for the cells that exist: a cell whose last run moved away must not keep its count.
# The stamp sums over dead rows too: it grows with every write to the hour, so the fuller snapshot replaces the poorer.
RECOUNT = f"""
INSERT INTO hour_counts ({DIMENSIONS}, {", ".join(COUNTS)}, stamp)
SELECT {DIMENSIONS}, {", ".join(f"sum({name}_)" for name in COUNTS)},
    sum(sum(version_)) OVER (PARTITION BY project, hour)
FROM
(
    SELECT {DIMENSIONS}, {", ".join(f"toUInt64(alive AND {rule}) AS {name}_" for name, rule in COUNTS.items())},
        toUInt128(version) AS version_
    FROM run_hours FINAL WHERE (project, hour) IN {_HOURS}
    UNION ALL
    SELECT {DIMENSIONS}, {", ".join("0" for _ in COUNTS)}, toUInt128(0)
    FROM hour_counts WHERE (project, hour) IN {_HOURS}
)
GROUP BY {DIMENSIONS}"""
AUDIT = """
SELECT project, hour FROM
(
    SELECT project, hour, sum(toUInt128(version)) AS due FROM run_hours FINAL GROUP BY project, hour
) AS rows
LEFT JOIN
(
    SELECT project, hour, max(stamp) AS stamp FROM hour_counts GROUP BY project, hour
) AS counts USING (project, hour)
WHERE due != stamp
ORDER BY project, hour"""


def recount(connections: Connections, hours: Iterable[Hour]) -> None:
    """Count the hours anew."""
    pairs = [(hour.project, _text(hour.at_s)) for hour in sorted(hours, key=lambda h: (h.project, h.at_s))]
    if pairs:
        with connections.writer() as client:
            client.command(RECOUNT, parameters={"hours": pairs})


def stale_hours(reader: Reader) -> list[Hour]:
    """Hours whose counts are not of what is stored: a crash between a run's row and its recount."""
    return [Hour(project, int(hour.timestamp())) for project, hour in reader.rows(AUDIT)]


def hour_of(ms: int) -> int:
    """The start of the hour of a time in ms, in s."""
    return ms // HOUR_MS * 3600


def _text(at_s: int) -> str:
    return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%d %H:%M:%S")
