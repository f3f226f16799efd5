"""Rows of removed runs, out of every table: hidden first, then deleted. Every step may be repeated."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from collector.store.client import Connections
from collector.store.engine import render
from collector.store.reader import Reader
from collector.store.recount import DAY_S, Hour, recount
from collector.store.tombstones import Tombstone
from semconv.names import RUN_ID

DELETED = (1 << 64) - 1  # the version of a removed run's row: nothing comes after it
_KEY = "run_key = reinterpretAsUInt128(sipHash128({project:String}, {run_id:String}))"
_OF_UNIT = "unit IN {traces:Array(String)}"
_OF_SPAN = "concat(trace_id, ':', span_id) IN {spans:Array(String)}"
_OLD_RANK = f"toUInt64(bitShiftRight(rank, 64)) != {DELETED}"
# What of a run stands where. The rows that hide it stay: they outrank what a grader that knows nothing yet may write.
ROWS: dict[str, str] = {
    "trace_lines": _KEY,
    "verdicts": _KEY,
    "outcomes": _KEY,
    "runs": f"{_KEY} AND version != {DELETED}",
    "run_hours": f"{_KEY} AND {_OLD_RANK}",
    "run_places": _KEY,
    "run_workspaces": _KEY,
    "runs_by_unit": "run_id = {run_id:String}",
    "spans": f"trace_id IN {{traces:Array(String)}} OR {_OF_SPAN} OR run_id = {{run_id:String}}",
    "logs": f"{_OF_UNIT} OR {_OF_SPAN} OR run_id = {{run_id:String}} "
    "OR concat(unit, ':', lower(hex(content_hash))) IN {logs:Array(String)}",
    "joins": f"{_OF_UNIT} OR join_key = {{join_key:String}}",
    "joins_by_unit": f"{_OF_UNIT} OR join_key = {{join_key:String}}",
    "arrivals": _OF_UNIT,
}
_CELL = (
    "task_id, task_version, checks_version, basis, task_class, task_source, retry, environment, service,"
    " service_version, agent, model"
)
_COUNTS = "pass + fail + error + invalid + awaiting_outcome + nothing_judged + evidence + incomplete + pending"
# A cell that counts nothing any more still names a task and an agent.
_EMPTY_CELLS = f"""ALTER TABLE hour_counts DELETE WHERE project = {{project:String}} AND task_id != ''
    AND hour IN {{hours:Array(DateTime('UTC'))}} AND (hour, {_CELL}) IN
    (SELECT hour, {_CELL} FROM hour_counts FINAL WHERE project = {{project:String}}
        AND hour IN {{hours:Array(DateTime('UTC'))}} AND {_COUNTS} = 0)"""
# Their days have been counted again without them, under a smaller stamp: what was counted with them must go.
_OLD_DAYS = """ALTER TABLE day_counts DELETE WHERE project = {project:String} AND day IN {days:Array(DateTime('UTC'))}
    AND (day, stamp) NOT IN (SELECT toStartOfDay(hour), sum(stamp) FROM hour_counts FINAL
        WHERE project = {project:String} AND toStartOfDay(hour) IN {days:Array(DateTime('UTC'))} GROUP BY 1)"""
_TASKS = f"""SELECT DISTINCT task_id FROM runs WHERE project = {{project:String}} AND {_KEY} AND task_id != ''
    AND task_id NOT IN (SELECT task_id FROM runs FINAL WHERE project = {{project:String}} AND alive)"""
# Every hour the run was ever counted in, by whichever grader.
_HOURS = f"""SELECT DISTINCT toUnixTimestamp(hour) FROM (
    SELECT hour, project, run_key FROM run_hours UNION ALL SELECT hour, project, run_key FROM run_places)
    WHERE project = {{project:String}} AND {_KEY}"""
_GHOSTS = f"""SELECT count() FROM run_hours FINAL
    WHERE project = {{project:String}} AND {_KEY} AND alive"""


class Removal:
    """Hides and deletes what a tombstone names."""

    def __init__(self, connections: Connections, reader: Reader) -> None:
        self._connections = connections
        self._reader = reader

    def hide(self, stone: Tombstone) -> None:
        """Out of every view at once: the run's row is withdrawn for good, the hours it was in are counted again."""
        of_run = {"project": stone.project, "run_id": stone.run_id}
        hours = sorted(int(at) for (at,) in self._reader.rows(_HOURS, **of_run))
        with self._connections.writer() as client:
            first = hours[0] if hours else 0
            row: dict[str, Any] = {
                "project": stone.project, "run_id": stone.run_id, "version": DELETED, "alive": False, "open": False,
                "hour": _time(first), "prev_hours": [_time(at) for at in hours[1:]],
                "started": _time(first), "ended": _time(first), "first_stored": _time(first),
            }  # fmt: skip
            client.insert("runs", [list(row.values())], column_names=list(row))
            recount(self._connections, {Hour(stone.project, at) for at in hours})

    def is_hidden(self, stone: Tombstone) -> bool:
        """False where another grader has put the run into an hour since."""
        [(ghosts,)] = self._reader.rows(_GHOSTS, project=stone.project, run_id=stone.run_id)
        return not ghosts

    def sweep(self, stone: Tombstone) -> None:
        """Delete the rows themselves. Parts are rewritten without them; the old files go some minutes later."""
        parameters = {
            "project": stone.project, "run_id": stone.run_id, "traces": list(stone.traces),
            "spans": list(stone.spans), "logs": list(stone.logs), "join_key": f"{RUN_ID}={stone.run_id}",
        }  # fmt: skip
        self._forget_names(stone)
        for table, condition in ROWS.items():
            named = {
                name: value for name, value in parameters.items() if f"{{{name}:" in condition or name == "project"
            }
            sql = f"ALTER TABLE `{table}` DELETE WHERE project = {{project:String}} AND ({condition})"
            if not self._any(table, condition, named):
                continue
            with self._connections.writer() as client:
                for made in render(sql, cluster=self._connections.target.cluster):
                    client.command(f"{made} SETTINGS mutations_sync = 1", parameters=named)

    def _forget_names(self, stone: Tombstone) -> None:
        """Tasks that no other run is of, and cells of counts that count nothing any more."""
        of_run = {"project": stone.project, "run_id": stone.run_id}
        hours = [Hour(stone.project, int(at)) for (at,) in self._reader.rows(_HOURS, **of_run)]
        days = {Hour(stone.project, hour.at_s // DAY_S * DAY_S).text for hour in hours}
        named = {"project": stone.project, "hours": [hour.text for hour in hours], "days": sorted(days)}
        with self._connections.writer() as client:
            for table in ("task_versions", "checks_in_force"):  # by a query: a mutation keeps its own text
                sql = f"ALTER TABLE `{table}` DELETE WHERE project = {{project:String}} AND task_id IN ({_TASKS})"
                client.command(f"{sql} SETTINGS mutations_sync = 1", parameters=of_run)
            client.command(f"{_EMPTY_CELLS} SETTINGS mutations_sync = 1", parameters=_only(named, "project", "hours"))
            recount(self._connections, hours)
            client.command(f"{_OLD_DAYS} SETTINGS mutations_sync = 1", parameters=_only(named, "project", "days"))

    def _any(self, table: str, condition: str, parameters: dict[str, Any]) -> bool:
        sql = f"SELECT 1 FROM `{table}` WHERE project = {{project:String}} AND ({condition}) LIMIT 1"
        return bool(self._reader.rows(sql, **parameters))

    def places(self, project: str, run_id: str) -> tuple[list[str], list[str]] | None:
        """The units and traces of a run that is there; None for one that is not."""
        sql = f"""SELECT units, trace_ids FROM runs FINAL
            WHERE project = {{project:String}} AND {_KEY} AND run_id = {{run_id:String}} AND alive"""
        rows = self._reader.rows(sql, project=project, run_id=run_id)
        return (list(rows[0][0]), list(rows[0][1])) if rows else None

    def projects(self, run_id: str) -> list[str]:
        """The projects that have a run of this id."""
        sql = "SELECT DISTINCT project FROM runs_by_unit WHERE run_id = {run_id:String}"
        known = [str(project) for (project,) in self._reader.rows(sql, run_id=run_id)]
        return [project for project in known if self.places(project, run_id) is not None]

    def shared_traces(self, project: str, run_id: str, traces: Sequence[str]) -> set[str]:
        """Those of the traces in which another run is, as far as runs tell."""
        sql = """SELECT DISTINCT arrayJoin(trace_ids) AS trace FROM runs FINAL
            WHERE project = {project:String} AND alive AND run_id != {run_id:String}
                AND hasAny(trace_ids, {traces:Array(String)})"""
        found = self._reader.rows(sql, project=project, run_id=run_id, traces=list(traces))
        return {str(trace) for (trace,) in found} & set(traces)


def _only(parameters: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: parameters[name] for name in names}


def _time(at_s: int) -> datetime:
    return datetime.fromtimestamp(at_s, UTC)
