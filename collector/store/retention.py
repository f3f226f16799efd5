"""How long each table keeps its rows: said in the configuration, carried out by ClickHouse (TTL).

Rows go when their parts are merged the next time, at most some hours after they expired.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Literal, Protocol

from clickhouse_connect.driver.client import Client
from msgspec import Struct

from collector.store.client import Connections
from collector.store.engine import render
from collector.store.reader import Reader

log = logging.getLogger("passhat.retention")

Kept = Literal["spans", "logs", "joins", "runs", "verdicts", "arrivals"]
DAY_S = 86_400
SOON_S = 7 * DAY_S

# Each table, the key that says how long, and the time of a row. Received, not started: a span with an absurd start
# must not vanish at once. Runs and all that is counted of them go by the end of the run, so that they go together.
RECEIVED = "toDateTime(intDiv(received_ns, 1000000000))"
TABLES: dict[str, tuple[Kept, str]] = {
    "spans": ("spans", RECEIVED),
    "logs": ("logs", RECEIVED),
    "joins": ("joins", "toDateTime(stored_at)"),
    "joins_by_unit": ("joins", "toDateTime(stored_at)"),
    "arrivals": ("arrivals", "toDateTime(stored_at)"),
    "runs": ("runs", "toDateTime(ended)"),
    "runs_by_unit": ("runs", "toDateTime(stored_at)"),
    "run_hours": ("runs", "hour"),
    "run_places": ("runs", "hour"),
    "run_workspaces": ("runs", "toDateTime(ended)"),
    "hour_counts": ("runs", "hour"),
    "day_counts": ("runs", "(day + toIntervalDay(1))"),
    "trace_lines": ("runs", "toDateTime(run_ended)"),
    "outcomes": ("runs", "toDateTime(stored_at)"),
    "verdicts": ("verdicts", "toDateTime(graded_at)"),
    "judgements": ("verdicts", "toDateTime(asked_at)"),
    "gate_decisions": ("verdicts", "toDateTime(decided_at)"),
}
# Grown by tasks and versions, not by traffic, or what says that a run was deleted.
FOR_EVER = (
    "checks_in_force", "checks_versions", "collectors", "frozen_runs", "grading_marks", "normalisers", "policy",
    "removed_runs", "replays", "run_tombstones", "schema_migrations", "task_versions",
)  # fmt: skip
_TTL = re.compile(r"\bTTL (.+?)(?: SETTINGS |$)")


class Ages(Protocol):
    """`config.retention`: seconds, 0 for ever."""

    @property
    def spans(self) -> int: ...

    @property
    def logs(self) -> int: ...

    @property
    def runs(self) -> int: ...

    @property
    def verdicts(self) -> int: ...


class TableAge(Struct, frozen=True):
    """One table: how long it keeps rows (None: for ever), what it holds, and what of that is about to go.

    `expired` rows go with the next merge of their parts, `soon` within a week.
    """

    table: str
    keep_s: int | None
    rows: int
    bytes: int
    oldest: datetime | None = None
    expired: int = 0
    soon: int = 0


class Retention:
    """Puts the ages of a configuration in force, and tells what they mean for what is stored."""

    def __init__(self, connections: Connections, reader: Reader) -> None:
        self._connections = connections
        self._reader = reader
        self._database = connections.target.database

    def apply(self, ages: Ages, max_age_s: float) -> list[str]:
        """Change the TTL of tables where it is another; those changed. Arrivals stay as long as spans do, or longer."""
        wanted = _seconds_of(ages, max_age_s)
        in_force = self._in_force()
        changed = []
        with self._connections.writer() as client:
            for table, (kept, time) in TABLES.items():
                ttl = ttl_of(time, wanted[kept])
                if table in in_force and in_force[table] != ttl:
                    _change(client, table, ttl, self._connections.target.cluster)
                    changed.append(table)
        if changed:
            log.info("retention changed: %s", ", ".join(changed))
        return changed

    def tables(self) -> Iterator[TableAge]:
        """Every table, the largest first."""
        in_force = self._in_force()
        sql = """SELECT table, sum(rows), sum(bytes_on_disk) FROM system.parts
            WHERE database = {db:String} AND active GROUP BY table"""
        sizes = {table: (int(rows), int(size)) for table, rows, size in self._reader.rows(sql, db=self._database)}
        for table in sorted(in_force, key=lambda name: (-sizes.get(name, (0, 0))[1], name)):
            rows, size = sizes.get(table, (0, 0))
            keep_s = _seconds(in_force[table])
            if keep_s is None or not rows:
                yield TableAge(table, keep_s, rows, size)
            else:
                yield TableAge(table, keep_s, rows, size, *self._expiring(table, keep_s))

    def _expiring(self, table: str, keep_s: int) -> tuple[datetime, int, int]:
        time = TABLES[table][1]
        sql = f"""SELECT toDateTime(least(min({time}), now()), 'UTC'), countIf({time} + {keep_s} < now()),
            countIf({time} + {keep_s} >= now() AND {time} + {keep_s} < now() + {SOON_S}) FROM `{table}`"""
        [(oldest, expired, soon)] = self._reader.rows(sql)
        return oldest, int(expired), int(soon)

    def _in_force(self) -> dict[str, str]:
        """The TTL of every table as the engine says it, '' where there is none."""
        sql = "SELECT name, engine_full FROM system.tables WHERE database = {db:String} AND engine LIKE '%MergeTree%'"
        found = {}
        for name, engine in self._reader.rows(sql, db=self._database):
            ttl = _TTL.search(engine)
            found[str(name)] = ttl[1] if ttl else ""
        return found


def _seconds_of(ages: Ages, max_age_s: float) -> dict[Kept, int]:
    telemetry = (ages.spans, ages.logs)
    return {
        "spans": ages.spans,
        "logs": ages.logs,
        "joins": max(telemetry) if all(telemetry) else 0,  # what ties spans and logs together goes with the last
        "runs": ages.runs,
        "verdicts": ages.verdicts,
        # What nobody graded is found by them, however long no collector ran; and a run may stay open for so long.
        "arrivals": max(*telemetry, int(max_age_s) + DAY_S) if all(telemetry) else 0,
    }


def ttl_of(time: str, keep_s: int) -> str:
    """A TTL as the engine writes it, '' for none."""
    return f"{time} + toIntervalSecond({keep_s})" if keep_s else ""


def _change(client: Client, table: str, ttl: str, cluster: str | None) -> None:
    # What is stored already learns its new age, and is rewritten only once something of it expires.
    rules = ("MODIFY SETTING materialize_ttl_recalculate_only = 1", f"MODIFY TTL {ttl}") if ttl else ("REMOVE TTL",)
    for rule in rules:
        for made in render(f"ALTER TABLE `{table}` {rule}", cluster=cluster):
            client.command(made)


def _seconds(ttl: str) -> int | None:
    said = re.search(r"toInterval(Second|Day)\((\d+)\)$", ttl)
    return None if said is None else int(said[2]) * (DAY_S if said[1] == "Day" else 1)
