"""What graders read back: arrivals, and units with all their facts.

Spans are read without FINAL and deduplicated here: by key it is some forty times faster, and a version that was
replaced is seen, so that it can be said that a span id was used for two different spans.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from collector.store.client import Connections
from collector.store.otlp_json import of_value_text
from collector.store.records import Arrival, StoredRun, Unit
from collector.store.rows import GENERATIONS, MOVED
from collector.store.tombstones import Tombstones
from semconv.facts import Facts, SpanFacts
from semconv.names import RESPONSE_ID
from semconv.outcome import Outcome
from semconv.values import Attributes

RESPONSE_KEY = f"{RESPONSE_ID}="  # the join key of an evaluation without a trace
Key = tuple[str, str]  # project and unit, join key or run id
KEYS = "{keys:Array(Tuple(String, String))}"

SPANS = f"""
SELECT project, trace_id AS unit, trace_id, span_id, parent_span_id, name, start_ns, end_ns, facts,
    service, service_version, environment, status_code, status_message, received_ns, version, content_hash, flags,
    cityHash64(facts)
FROM spans WHERE (project, trace_id) IN {KEYS}"""
# Apart from the spans: maps are slow to decode, and only what can be a run's root needs its attributes.
ATTRIBUTES = f"""
SELECT project, trace_id, span_id, version, content_hash, attr_string, attr_int, attr_double, attr_bool, attr_other
FROM spans WHERE (project, trace_id) IN {KEYS} AND rootable"""
LOGS = f"""
SELECT project, unit, trace_id, span_id, event_name, time_ns, observed_ns, facts, service, service_version,
    environment, received_ns, version, content_hash, flags, cityHash64(facts)
FROM logs WHERE (project, unit) IN {KEYS}"""
ARRIVALS = """
SELECT project, unit, any(trace_id), toUnixTimestamp64Nano(min(stored_at)), toUnixTimestamp64Nano(max(stored_at)),
    sum(spans), max(root), max(run_end)
FROM arrivals WHERE stored_at >= fromUnixTimestamp64Nano({since:Int64}) AND spans > 0
GROUP BY project, unit ORDER BY min(stored_at), unit"""
TOUCHED = """
SELECT project, unit, toUnixTimestamp64Nano(max(stored_at))
FROM arrivals WHERE stored_at >= fromUnixTimestamp64Nano({since:Int64}) AND spans = 0
GROUP BY project, unit ORDER BY unit"""
RUN_KEYS = f"SELECT k.1, reinterpretAsUInt128(sipHash128(k.1, k.2)) FROM (SELECT arrayJoin({KEYS}) AS k)"
RUNS = f"""
SELECT project, run_id, version, revision, alive, epoch, inputs, input_digest, basis, checks_version, result,
    task_id, task_version, toUnixTimestamp(hour), arrayMap(h -> toUnixTimestamp(h), arrayUnion(prev_hours, places)),
    toUnixTimestamp64Milli(first_stored), line_count, closed_ns, flags,
    root_span_id, trace_ids, units
FROM
(
    SELECT *, run_key FROM runs FINAL WHERE (project, run_key) IN ({RUN_KEYS})
) AS current
LEFT JOIN
(
    SELECT project, run_key, groupUniqArray(hour) AS places
    FROM run_places WHERE (project, run_key) IN ({RUN_KEYS}) GROUP BY project, run_key
) AS placed USING (project, run_key)"""
OUTCOMES = f"""
SELECT project, run_id, result, source, reason, score, time_ns, outcome_id
FROM outcomes FINAL
WHERE NOT from_telemetry AND (project, run_key) IN ({RUN_KEYS})
ORDER BY time_ns, stored_at, outcome_id"""

_facts = msgspec.json.Decoder(Facts).decode
_NO_ATTRIBUTES: Attributes = {}


class Reader:
    """Reads by key; every call takes a read handle of its own."""

    def __init__(self, connections: Connections, tombstones: Tombstones) -> None:
        self._connections = connections
        self.tombstones = tombstones

    def rows(self, sql: str, **parameters: Any) -> Sequence[Sequence[Any]]:
        with self._connections.reader() as client:
            return client.query(sql, parameters=parameters).result_rows

    def arrivals_since(self, since_ns: int) -> list[Arrival]:
        return [
            Arrival(project, unit, trace_id, first, last, spans, bool(root), bool(run_end))
            for project, unit, trace_id, first, last, spans, root, run_end in self.rows(ARRIVALS, since=since_ns)
        ]

    def touched_since(self, since_ns: int) -> list[tuple[str, str, int]]:
        return [(project, unit, at) for project, unit, at in self.rows(TOUCHED, since=since_ns)]

    def read_units(self, wanted: Sequence[Key]) -> dict[Key, Unit]:
        """The whole connected unit of each member asked for; equal objects for members of one unit."""
        sets = self._connected(list(dict.fromkeys(wanted)))
        members = sorted({(project, member) for project, units, _ in sets for member in units})
        facts = self._facts_of(members)
        runs = self._runs_of(members)
        found: dict[Key, Unit] = {}
        for project, names, keys in sets:
            all_of_it = [fact for name in names for fact in facts.get((project, name), ())]
            left = self.tombstones.left(project, names, all_of_it)
            unit = Unit(
                project=project,
                members=names,
                trace_ids=tuple(name for name in names if _is_trace(name)),
                join_keys=keys,
                facts=left.facts,
                removed=left.removed,
                closed=left.closed,
                runs=_own_runs(names, [run for name in names for run in runs.get((project, name), ())]),
            )
            found.update({(project, name): unit for name in names})
        return {key: found[key] for key in wanted}

    def stored_runs(self, keys: Iterable[Key]) -> dict[Key, StoredRun]:
        """The newest row of each run that was ever written, by (project, run_id)."""
        asked = sorted(set(keys))
        if not asked:
            return {}
        return {(row[0], row[1]): _stored_run(row) for row in self.rows(RUNS, keys=asked)}

    def outcomes_of(self, keys: Iterable[Key]) -> dict[Key, list[Outcome]]:
        """Outcomes sent over the API by (project, run_id), oldest first. Those in telemetry are found again there."""
        asked = sorted(set(keys))
        found: dict[Key, list[Outcome]] = {}
        for project, run_id, result, source, reason, score, time_ns, outcome_id in (
            self.rows(OUTCOMES, keys=asked) if asked else ()
        ):
            outcome = Outcome(run_id, result, source, reason, score, time_ns, outcome_id)
            found.setdefault((project, run_id), []).append(outcome)
        return found

    def units_of_runs(self, keys: Iterable[Key]) -> dict[Key, list[str]]:
        """The units each known run was assembled from."""
        sql = f"SELECT project, run_id, units FROM runs FINAL WHERE (project, run_key) IN ({RUN_KEYS})"
        asked = sorted(set(keys))
        return {(project, run_id): units for project, run_id, units in (self.rows(sql, keys=asked) if asked else ())}

    def units_joined(self, keys: Iterable[Key]) -> dict[Key, list[str]]:
        """The units that carry each join key."""
        asked = sorted(set(keys))
        found: dict[Key, list[str]] = {}
        sql = f"SELECT DISTINCT project, join_key, unit FROM joins WHERE (project, join_key) IN {KEYS} ORDER BY ALL"
        for project, key, unit in self.rows(sql, keys=asked) if asked else ():
            found.setdefault((project, key), []).append(unit)
        return found

    def answered(self, keys: Iterable[Key]) -> list[tuple[str, str, str]]:
        """Project, join key and trace of the model calls whose response ids the log units of `keys` are about."""
        asked = sorted(set(keys))
        sql = f"""SELECT DISTINCT project, substring(join_key, {len(RESPONSE_KEY) + 1}) FROM joins_by_unit
            WHERE (project, unit) IN {KEYS} AND startsWith(join_key, '{RESPONSE_KEY}')"""
        about = {(project, response) for project, response in (self.rows(sql, keys=asked) if asked else ())}
        if not about:
            return []
        sql = """SELECT DISTINCT project, response_id, trace_id FROM spans
            WHERE response_id IN {ids:Array(String)} AND response_id != '' ORDER BY ALL"""
        found = self.rows(sql, ids=sorted({response for _, response in about}))
        return [
            (project, RESPONSE_KEY + response, trace)
            for project, response, trace in found
            if (project, response) in about
        ]

    def _connected(self, wanted: list[Key]) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
        """Project, members and join keys of each connected set that holds a wanted unit."""
        keys_of: dict[Key, set[str]] = {}
        units_of: dict[Key, set[str]] = {}
        new_units = wanted
        while new_units:
            new_keys: set[Key] = set()
            sql = f"SELECT DISTINCT project, unit, join_key FROM joins_by_unit WHERE (project, unit) IN {KEYS}"
            keys_of.update({unit: set() for unit in new_units})
            for project, unit, key in self.rows(sql, keys=new_units):
                keys_of[project, unit].add(key)
                if (project, key) not in units_of:
                    new_keys.add((project, key))
            joined = self.units_joined(new_keys)
            units_of.update({key: set(joined.get(key, ())) for key in new_keys})
            more = {(project, unit) for (project, _), units in joined.items() for unit in units}
            new_units = sorted(more - keys_of.keys())
        return _components(keys_of, units_of)

    def _facts_of(self, members: list[Key]) -> dict[Key, list[SpanFacts]]:
        found: dict[Key, list[SpanFacts]] = {}
        newest: dict[tuple[str, str, str], tuple[int, int, SpanFacts]] = {}
        attributes = {tuple(row[:5]): _attributes(row) for row in self.rows(ATTRIBUTES, keys=members)}
        for row in self.rows(SPANS, keys=members):
            key = (row[0], row[1], row[3])
            facts = _span_facts(row, attributes.get((*key, row[15], row[16]), _NO_ATTRIBUTES))
            _keep_newest(newest, key, (row[15], row[16], facts))
        for (project, unit, _), (_, _, facts) in newest.items():
            found.setdefault((project, unit), []).append(facts)
        for (project, unit, _, _), row in self._logs_of(members).items():
            if MOVED not in row[14]:
                found.setdefault((project, unit), []).append(_log_facts(row))
        for facts_of_unit in found.values():
            facts_of_unit.sort(key=lambda one: (one.start_ns, one.span_id, one.content_hash))
        return found

    def _logs_of(self, members: list[Key]) -> dict[tuple[str, str, int, int], Sequence[Any]]:
        """The newest version of each log record."""
        newest: dict[tuple[str, str, int, int], Sequence[Any]] = {}
        for row in self.rows(LOGS, keys=members):
            key = (row[0], row[1], row[5], row[13])
            if key not in newest or newest[key][12] <= row[12]:
                newest[key] = row
        return newest

    def _runs_of(self, members: list[Key]) -> dict[Key, list[StoredRun]]:
        sql = f"SELECT DISTINCT project, unit, run_id FROM runs_by_unit WHERE (project, unit) IN {KEYS} ORDER BY ALL"
        pairs = self.rows(sql, keys=members)
        rows = self.stored_runs((project, run_id) for project, _, run_id in pairs)
        found: dict[Key, list[StoredRun]] = {}
        for project, unit, run_id in pairs:
            if (project, run_id) in rows:
                found.setdefault((project, unit), []).append(rows[project, run_id])
        return found


def _own_runs(names: Sequence[str], runs: Iterable[StoredRun]) -> tuple[StoredRun, ...]:
    """The runs of these units, each once. One that lies in others by now is not theirs to withdraw."""
    return tuple({run.run_id: run for run in runs if not run.lies_apart(names)}.values())


def _keep_newest(newest: dict[Any, tuple[int, int, SpanFacts]], key: Any, row: tuple[int, int, SpanFacts]) -> None:
    before = newest.get(key)
    if before is None:
        newest[key] = row
        return
    older, newer = sorted((before, row), key=lambda one: one[:2])
    version, content, facts = newer
    conflict = older[1] != content or "id_conflict" in older[2].facts.flags
    newest[key] = (version, content, _flagged(facts, "id_conflict") if conflict else facts)


def _flagged(facts: SpanFacts, flag: str) -> SpanFacts:
    if flag in facts.facts.flags:
        return facts
    return msgspec.structs.replace(facts, facts=msgspec.structs.replace(facts.facts, flags=(*facts.facts.flags, flag)))


def _components(
    keys_of: Mapping[Key, set[str]], units_of: Mapping[Key, set[str]]
) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    placed: set[Key] = set()
    sets = []
    for start in keys_of:
        if start in placed:
            continue
        project = start[0]
        members, keys, waiting = {start[1]}, set[str](), [start[1]]
        while waiting:
            for key in keys_of[project, waiting.pop()] - keys:
                keys.add(key)
                fresh = units_of[project, key] - members
                members |= fresh
                waiting.extend(fresh)
        placed |= {(project, member) for member in members}
        sets.append((project, tuple(sorted(members)), tuple(sorted(keys))))
    return sets


def _attributes(row: Sequence[Any]) -> Attributes:
    strings, ints, doubles, bools, others = row[5:10]
    attributes = {**strings, **ints, **doubles, **bools}
    attributes.update({key: of_value_text(text) for key, text in others.items()})
    return attributes


def _span_facts(row: Sequence[Any], attributes: Attributes) -> SpanFacts:
    facts = _with_flags(_facts(row[8]), row[17])
    return SpanFacts(
        "span", row[0], row[2], row[3], row[4], row[5], row[6], row[7], facts, row[9], row[10], row[11],
        row[12], row[13], row[14], f"{row[16]:016x}", attributes, row[18], row[15] % GENERATIONS,
    )  # fmt: skip


def _log_facts(row: Sequence[Any]) -> SpanFacts:
    time_ns = row[5] or row[6]
    facts = _with_flags(_facts(row[7]), row[14])
    return SpanFacts(
        signal="log", project=row[0], trace_id=row[2], span_id=row[3], parent_span_id="", name=row[4],
        start_ns=time_ns, end_ns=time_ns, facts=facts, service=row[8], service_version=row[9], environment=row[10],
        received_ns=row[11], content_hash=f"{row[13]:016x}", facts_hash=row[15], generation=row[12] % GENERATIONS,
    )  # fmt: skip


def _with_flags(facts: Facts, flags: Sequence[str]) -> Facts:
    return facts if len(flags) == len(facts.flags) else msgspec.structs.replace(facts, flags=tuple(flags))


def _stored_run(row: Sequence[Any]) -> StoredRun:
    return msgspec.convert(dict(zip(StoredRun.__struct_fields__, row, strict=True)), StoredRun)


def _is_trace(unit: str) -> bool:
    return len(unit) == 32 and all(char in "0123456789abcdef" for char in unit)
