"""A grading as rows: of the run, its trace lines, its verdicts."""

from __future__ import annotations

import math
from typing import Any

import msgspec
from msgspec import Struct

from collector.store.otlp_json import key_values
from collector.store.records import Grading, StoredRun
from collector.store.recount import Hour, hour_of
from collector.store.rows import FIRST_NS
from semconv.trace_line import TraceLine
from semconv.values import JsonValue

DAY_MS = 86_400_000
_encode = msgspec.json.Encoder().encode


class RunRow(Struct, frozen=True):
    """One row of `runs` (queries/schema/0008_runs.sql)."""

    project: str
    run_id: str
    version: int
    revision: int
    alive: bool
    open: bool
    task_id: str
    task_version: str
    task_class: str
    task_source: str
    expected: str
    trial_id: str
    retry_of: str
    workspace_id: str
    experiment_id: str
    environment: str
    service: str
    service_version: str
    agent: str
    model: str
    checks_version: str
    epoch: int
    basis: str
    result: str
    reason: str
    outcome: str
    trajectory: str
    calls: str
    closed_by: str
    root_status: str
    root_error: str
    root_error_type: str
    root_span_id: str
    started_ns: int
    ended_ns: int
    started: int
    ended: int
    hour: int
    prev_hours: tuple[int, ...]
    duration_s: float
    turns: int
    tool_calls: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    final_text: str
    subtype: str
    attributes: bytes
    trace_ids: tuple[str, ...]
    units: tuple[str, ...]
    span_count: int
    line_count: int
    lossy: tuple[str, ...]
    flags: tuple[str, ...]
    inputs: int
    as_of_ns: int
    closed_ns: int
    input_digest: str
    check_id: tuple[str, ...]
    check_kind: tuple[str, ...]
    check_axis: tuple[str, ...]
    check_gate: tuple[bool, ...]
    check_severity: tuple[str, ...]
    check_on_fail: tuple[str, ...]
    check_version: tuple[str, ...]
    check_status: tuple[str, ...]
    check_reason: tuple[str, ...]
    check_fix: tuple[str, ...]
    check_lines: tuple[tuple[int, ...], ...]
    first_stored: int


class LineRow(Struct, frozen=True, gc=False):
    """One row of `trace_lines` (queries/schema/0016_trace_lines.sql)."""

    project: str
    run_id: str
    version: int
    n: int
    role: str
    tool: str
    tool_raw: str
    server: str
    actions: tuple[str, ...]
    input: bytes
    output: bytes
    text: str
    message_id: str
    subtype: str
    cost_usd: float | None
    num_turns: int | None
    call_id: str
    agent: str
    depth: int
    status: str
    error: str
    start_ns: int
    end_ns: int
    input_state: str
    model: str
    input_tokens: int | None
    output_tokens: int | None
    dialect: str
    trace_id: str
    span_id: str
    flags: tuple[str, ...]
    attempts: int
    task_id: str
    task_version: str
    run_ended: int


class VerdictRow(Struct, frozen=True, gc=False):
    """One row of `verdicts` (queries/schema/0017_verdicts.sql)."""

    project: str
    run_id: str
    check_id: str
    check_version: str
    input_digest: str
    kind: str
    axis: str
    gate: bool
    severity: str
    on_fail: str
    status: str
    reason: str
    fix: str
    lines: tuple[int, ...]
    version: int
    revision: int


def run_row(grading: Grading, before: StoredRun | None, now_ms: int) -> RunRow | None:
    """The row of a grading, or None when what is stored was built from more."""
    run, trial = grading.run, grading.trial
    version = version_of(grading)
    if before is not None and before.version > version:
        return None
    first_stored = before.first_stored_ms if before else now_ms
    started, ended, flags = _times(grading, first_stored)
    hour = before.hour_s if before and not grading.alive else hour_of(ended)
    left = () if before is None else (*before.prev_hours_s, before.hour_s)
    checks = grading.verdicts
    return RunRow(
        run.project, run.run_id, version, before.revision + 1 if before else 1, grading.alive, run.is_open,
        run.task_id, run.task_version, run.task_class, run.task_source, run.expected, run.trial_id, run.retry_of,
        run.workspace_id, run.experiment_id, run.environment, run.service, run.service_version, run.agent, run.model,
        grading.checks_version, grading.epoch, grading.basis,
        trial.result, trial.reason, trial.outcome, trial.trajectory, trial.calls,
        run.closed_by, run.root_status, run.root_error, run.root_error_type, run.root_span_id,
        run.started_ns, run.ended_ns, started, ended, hour, tuple(sorted(set(left) - {hour})),
        (ended - started) / 1000, run.turns, run.tool_calls,
        run.input_tokens, run.output_tokens, run.cost_usd, run.final_text, run.subtype,
        _encode(key_values(run.attributes)), run.trace_ids, grading.units,
        run.span_count, len(run.lines), run.lossy, flags, grading.inputs, grading.as_of_ns,
        _closed_ns(grading, before), grading.input_digest,
        tuple(c.check_id for c in checks), tuple(c.kind for c in checks), tuple(c.axis for c in checks),
        tuple(c.gate for c in checks), tuple(c.severity for c in checks), tuple(c.on_fail for c in checks),
        tuple(c.check_version for c in checks), tuple(c.status for c in checks), tuple(c.reason for c in checks),
        tuple(c.fix for c in checks), tuple(c.lines for c in checks),
        first_stored,
    )  # fmt: skip


def _closed_ns(grading: Grading, before: StoredRun | None) -> int:
    """When the run was first closed. It stays: a regrade must not swallow what began after the run had ended."""
    if before is not None and before.alive and before.closed_ns:
        return before.closed_ns
    return grading.as_of_ns if grading.alive and not grading.run.is_open else 0


def version_of(grading: Grading) -> int:
    """Orders revisions by what went in: checks epoch, words, inputs, closed, basis."""
    inputs = min(grading.inputs, (1 << 30) - 1)
    closed, outcome = int(not grading.run.is_open), int(grading.basis == "outcome")
    return grading.epoch << 44 | grading.generation << 32 | inputs << 2 | closed << 1 | outcome


def hours_of(row: RunRow) -> set[Hour]:
    """Every hour a run is or was in."""
    return {Hour(row.project, hour) for hour in (row.hour, *row.prev_hours)}


def line_row(line: TraceLine, grading: Grading, run: RunRow) -> LineRow:
    """The row of a trace line, under its run's version."""
    return LineRow(
        run.project, run.run_id, run.version, line.n, line.role, line.tool, line.tool_raw, line.server,
        grading.actions.get(line.n, ()), _json(line.input), _json(line.output), line.text,
        line.message_id, line.subtype, line.cost_usd, line.num_turns, line.call_id, line.agent, line.depth,
        line.status, line.error, line.start_ns, line.end_ns, line.input_state, line.model,
        line.input_tokens, line.output_tokens, line.dialect, line.trace_id, line.span_id, line.flags,
        line.attempts, run.task_id, run.task_version, run.ended,
    )  # fmt: skip


def line_rows(grading: Grading, run: RunRow, before: StoredRun | None) -> list[LineRow]:
    """The lines of a revision. One written again with fewer lines blanks those it had more, else they would stay."""
    rows = [line_row(line, grading, run) for line in grading.run.lines]
    if before is not None and before.version == run.version:
        more = range(run.line_count + 1, before.line_count + 1)
        rows += [line_row(TraceLine(n=n, role=""), grading, run) for n in more]  # type: ignore[arg-type]
    return rows


def verdict_rows(grading: Grading, run: RunRow) -> list[VerdictRow]:
    """The verdicts of a grading as history keeps them."""
    return [
        VerdictRow(
            run.project, run.run_id, v.check_id, v.check_version, run.input_digest, v.kind, v.axis, v.gate, v.severity,
            v.on_fail, v.status, v.reason, v.fix, v.lines, run.version, run.revision,
        )
        for v in grading.verdicts
    ]  # fmt: skip


def _times(grading: Grading, first_stored_ms: int) -> tuple[int, int, tuple[str, ...]]:
    """Started and ended in ms. An absurd end counts as first stored: neither 1970 nor 2092 may hold a trial.

    Measured against the first storing, not against now, so that a regrade next year leaves the trial where it is.
    """
    run = grading.run
    latest_ns = (first_stored_ms + DAY_MS) * 1_000_000
    flags = run.flags
    if FIRST_NS <= run.ended_ns <= latest_ns:
        ended = run.ended_ns // 1_000_000
    else:
        ended = first_stored_ms
        flags = flags if "absurd_time" in flags or not grading.alive else (*flags, "absurd_time")
    started = run.started_ns // 1_000_000 if FIRST_NS <= run.started_ns <= run.ended_ns else ended
    return min(started, ended), ended, flags


def _json(value: JsonValue) -> bytes:
    """JSON of a line's input or output; empty for None (not captured), which '""' and '{}' are not."""
    if value is None:
        return b""
    try:
        text = _encode(value)
        # NaN and the infinities become null here, which is another value: say them as text.
        return _encode(_spelled(value)) if b"null" in text else text
    except (UnicodeEncodeError, OverflowError, RecursionError):
        return _encode(str(value).encode("utf-8", "backslashreplace").decode())


def _spelled(value: JsonValue) -> JsonValue:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: _spelled(item) for key, item in value.items()}
    return [_spelled(item) for item in value] if isinstance(value, list) else value


def line_of(row: dict[str, Any]) -> TraceLine:
    """The trace line of a stored row, as it was graded."""
    names = TraceLine.__struct_fields__
    values = {name: row[name] for name in names if name in row}
    for name in ("input", "output"):
        values[name] = msgspec.json.decode(row[name]) if row[name] else None
    values["flags"] = tuple(row["flags"])
    return TraceLine(**values)
