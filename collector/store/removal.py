"""Rows of removed runs, out of every table: hidden first, then deleted. Every step may be repeated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
_OF_NAME = "run_id = {run_id:String}"
_OF_SPAN = "concat(trace_id, ':', span_id) IN {spans:Array(String)}"
_SPARED = "{spared:Array(String)}"
_OF_JOIN = f"join_key IN {{traces:Array(String)}} OR join_key = {{join_key:String}} AND unit NOT IN {_SPARED}"
# hex() leaves out leading zeros.
_OF_HASH = "concat(unit, ':', leftPad(lower(hex(content_hash)), 16, '0'))"
_OLD_RANK = f"toUInt64(bitShiftRight(rank, 64)) != {DELETED}"
# What of a run stands where. The rows that hide it stay: they outrank what a grader that knows nothing yet may write.
ROWS: dict[str, str] = {
    "trace_lines": _KEY,
    "verdicts": _KEY,
    "outcomes": _KEY,
    "judgements": _KEY,
    "runs": f"{_KEY} AND version != {DELETED}",
    "run_hours": f"{_KEY} AND {_OLD_RANK}",
    "run_places": _KEY,
    "run_workspaces": _KEY,
    "runs_by_unit": "run_id = {run_id:String}",
    "frozen_runs": _KEY,
    "spans": f"trace_id IN {{traces:Array(String)}} OR {_OF_SPAN} OR {_OF_NAME} AND trace_id NOT IN {_SPARED}",
    "logs": f"{_OF_UNIT} OR {_OF_SPAN} OR {_OF_NAME} AND unit NOT IN {_SPARED} OR {_OF_HASH} IN {{logs:Array(String)}}",
    "joins": f"{_OF_UNIT} OR {_OF_JOIN}",
    "joins_by_unit": f"{_OF_UNIT} OR {_OF_JOIN}",
    "arrivals": _OF_UNIT,
}
_CELL = (
    "task_id, task_version, checks_version, basis, task_class, task_source, retry, environment, service,"
    " service_version, agent, model"
)
_COUNTS = "pass + fail + error + invalid + awaiting_outcome + nothing_judged + evidence + incomplete + pending"
# A cell that counts nothing any more still names a task and an agent.
_EMPTY_CELLS = f"""task_id != '' AND hour IN {{hours:Array(DateTime('UTC'))}} AND (hour, {_CELL}) IN
    (SELECT hour, {_CELL} FROM hour_counts FINAL WHERE project = {{project:String}}
        AND hour IN {{hours:Array(DateTime('UTC'))}} AND {_COUNTS} = 0)"""
# Their days have been counted again without them, under a smaller stamp: what was counted with them must go.
_OLD_DAYS = """day IN {days:Array(DateTime('UTC'))}
    AND (day, stamp) NOT IN (SELECT toStartOfDay(hour), sum(stamp) FROM hour_counts FINAL
        WHERE project = {project:String} AND toStartOfDay(hour) IN {days:Array(DateTime('UTC'))} GROUP BY 1)"""
# By a query, not by names: a mutation keeps its own text.
_TASKS = f"""task_id IN (SELECT DISTINCT task_id FROM runs
    WHERE project = {{project:String}} AND {_KEY} AND task_id != ''
        AND task_id NOT IN (SELECT task_id FROM runs FINAL WHERE project = {{project:String}} AND alive))"""
# Looked at in this order: what names a run's tasks, and what is counted nowhere any more.
NAMES = {"task_versions": _TASKS, "checks_in_force": _TASKS, "hour_counts": _EMPTY_CELLS}
DAYS = {"day_counts": _OLD_DAYS}
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
        hours = sorted(int(at) for (at,) in self._reader.rows(_HOURS, **of_run)) or [0]
        with self._connections.writer() as client:
            first = hours[0]
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
        self._forget_names(stone)
        named = {
            "run_id": stone.run_id, "traces": list(stone.traces), "spans": list(stone.spans), "logs": list(stone.logs),
            "spared": sorted(stone.spared), "join_key": f"{RUN_ID}={stone.run_id}",
        }  # fmt: skip
        for table in self._held(ROWS, stone.project, named):
            self._delete(table, ROWS[table], stone.project, named)

    def _forget_names(self, stone: Tombstone) -> None:
        """Tasks that no other run is of, and cells of counts that count nothing any more."""
        of_run = {"project": stone.project, "run_id": stone.run_id}
        hours = [Hour(stone.project, int(at)) for (at,) in self._reader.rows(_HOURS, **of_run)]
        days = {Hour(stone.project, hour.at_s // DAY_S * DAY_S).text for hour in hours}
        named = {"run_id": stone.run_id, "hours": [hour.text for hour in hours], "days": sorted(days)}
        held = self._held(NAMES, stone.project, named)
        for table in held:
            self._delete(table, NAMES[table], stone.project, named)
        if "hour_counts" in held:
            recount(self._connections, hours)
        if self._held(DAYS, stone.project, named):
            self._delete("day_counts", _OLD_DAYS, stone.project, named)
            recount(self._connections, hours)  # a merge may have taken the new day for the older one

    def _held(self, conditions: Mapping[str, str], project: str, parameters: dict[str, Any]) -> list[str]:
        """The tables with rows of the project for which their condition holds: a mutation costs, even of nothing."""
        looks = " UNION ALL ".join(
            f"SELECT '{table}' FROM `{table}` WHERE project = {{project:String}} AND ({condition}) LIMIT 1"
            for table, condition in conditions.items()
        )
        return [str(table) for (table,) in self._reader.rows(looks, project=project, **parameters)]

    def _delete(self, table: str, condition: str, project: str, parameters: dict[str, Any]) -> None:
        """Delete the project's rows for which the condition holds."""
        named = {name: value for name, value in parameters.items() if f"{{{name}:" in condition}
        named["project"] = project
        sql = f"ALTER TABLE `{table}` DELETE WHERE project = {{project:String}} AND ({condition})"
        with self._connections.writer() as client:
            for made in render(sql, cluster=self._connections.target.cluster):
                client.command(f"{made} SETTINGS mutations_sync = 2", parameters=named)

    def places(self, project: str, run_id: str) -> tuple[list[str], list[str]] | None:
        """The units and traces of a run that is there; None for one that is not."""
        sql = f"""SELECT units, trace_ids FROM runs FINAL
            WHERE project = {{project:String}} AND {_KEY} AND run_id = {{run_id:String}} AND alive"""
        rows = self._reader.rows(sql, project=project, run_id=run_id)
        return (list(rows[0][0]), list(rows[0][1])) if rows else None

    def pieces(self, stone: Tombstone) -> list[str]:
        """Runs that are nothing but what lies in its traces."""
        sql = """SELECT DISTINCT run_id FROM runs_by_unit
            WHERE project = {project:String} AND unit IN {traces:Array(String)} AND run_id != {run_id:String}"""
        named = {"project": stone.project, "traces": list(stone.traces), "run_id": stone.run_id}
        found = [str(run_id) for (run_id,) in self._reader.rows(sql, **named)]
        places = {run_id: self.places(stone.project, run_id) for run_id in found}
        return [run_id for run_id, at in places.items() if at is not None and set(at[1]) <= set(stone.traces)]

    def responses(self, project: str, traces: Sequence[str], spans: Sequence[str]) -> list[str]:
        """The responses that model calls of these traces and spans ('trace:span') got, and no other call did."""
        if not traces and not spans:
            return []
        own = f"trace_id IN {{traces:Array(String)}} OR {_OF_SPAN}"
        within = sorted({*traces, *(span.partition(":")[0] for span in spans)})
        sql = f"""SELECT response_id FROM spans WHERE project = {{project:String}} AND response_id IN
            (SELECT response_id FROM spans WHERE project = {{project:String}} AND trace_id IN {{within:Array(String)}}
                AND ({own}) AND response_id != '')
            GROUP BY response_id HAVING min({own}) ORDER BY response_id"""
        named = {"traces": list(traces), "spans": list(spans), "within": within}
        return [str(one) for (one,) in self._reader.rows(sql, project=project, **named)]

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


def _time(at_s: int) -> datetime:
    return datetime.fromtimestamp(at_s, UTC)
