"""A graded run as `gen_ai.evaluation.result` events: pure; the words are in docs/verdicts-out.md."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator

from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import TraceFlags

from collector.outward.feed import GradedRun, GradedVerdict

EVENT = "gen_ai.evaluation.result"
TRIAL = "passhat.trial"
# By these passhat knows its own events when they come back (collector/receive/check.py).
RESOURCE = Resource({"service.name": "passhat"})
SCOPE = InstrumentationScope("passhat.verdicts")
MAX_TEXT = 4_000
Value = str | bool | int | float | list[int]


def events_of(run: GradedRun, statuses: Collection[str]) -> Iterator[ReadableLogRecord]:
    """The trial first, then the verdicts whose status is asked for."""
    yield _record(run, TRIAL, run.result, run.reason, {"passhat.basis": run.basis, "passhat.outcome": run.outcome})
    for verdict in run.verdicts:
        if verdict.status in statuses:
            yield _record(run, verdict.check_id, verdict.status, verdict.reason, _of_verdict(verdict))


def event_id(run: GradedRun, name: str) -> str:
    """The same whenever the same revision is sent again."""
    said = "\0".join((run.project, run.run_id, name, run.checks_version, str(run.revision)))
    return hashlib.blake2b(said.encode(), digest_size=16).hexdigest()


def _record(run: GradedRun, name: str, label: str, reason: str, more: dict[str, Value]) -> ReadableLogRecord:
    attributes: dict[str, Value] = {
        "gen_ai.evaluation.name": name,
        "gen_ai.evaluation.score.label": label,
        "gen_ai.evaluation.explanation": reason[:MAX_TEXT],
        "error.type": "check_error" if label == "error" and name != TRIAL else "",
        "passhat.event.id": event_id(run, name),
        "passhat.run.id": run.run_id,
        "passhat.project": run.project,
        "passhat.task.id": run.task_id,
        "passhat.task.version": run.task_version,
        "passhat.task.class": run.task_class,
        "passhat.trial.id": run.trial_id,
        "passhat.experiment.id": run.experiment_id,
        "passhat.checks.version": run.checks_version,
        "passhat.revision": run.revision,
        **more,
    }
    if label in ("pass", "fail"):
        attributes["gen_ai.evaluation.score.value"] = float(label == "pass")
    record = LogRecord(
        timestamp=run.graded_ns,
        observed_timestamp=run.graded_ns,
        trace_id=_number(run.trace_id, 32),
        span_id=_number(run.root_span_id, 16) if run.trace_id else 0,
        trace_flags=TraceFlags(TraceFlags.SAMPLED),
        severity_number=SeverityNumber.INFO,
        attributes={key: value for key, value in attributes.items() if value not in ("", [])},
    )
    record.event_name = EVENT
    return ReadableLogRecord(record, RESOURCE, SCOPE)


def _of_verdict(verdict: GradedVerdict) -> dict[str, Value]:
    return {
        "passhat.check.kind": verdict.kind,
        "passhat.check.version": verdict.version,
        "passhat.check.gate": verdict.gate,
        "passhat.check.axis": verdict.axis,
        "passhat.check.severity": verdict.severity,
        "passhat.check.lines": list(verdict.lines),
        "passhat.check.fix": verdict.fix[:MAX_TEXT],
    }


def _number(hexadecimal: str, digits: int) -> int:
    """A trace or span id; 0, which means none, for what is no such id (the join key of logs)."""
    return int(hexadecimal, 16) if re.fullmatch(rf"[0-9a-f]{{{digits}}}", hexadecimal) else 0
