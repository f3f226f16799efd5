"""Outcomes as stored: every statement is kept, a repeated one is one."""

from __future__ import annotations

import hashlib

from msgspec import Struct

from semconv.outcome import Outcome


class OutcomeRow(Struct, frozen=True, gc=False):
    """One row of `outcomes` (queries/schema/0018_outcomes.sql)."""

    project: str
    run_id: str
    source: str
    outcome_id: str
    result: str
    reason: str
    score: float | None
    time_ns: int
    from_telemetry: bool


def outcome_row(project: str, outcome: Outcome, *, from_telemetry: bool) -> OutcomeRow:
    """The row of an outcome. Without an id it gets one from its content: sent twice, it is one outcome."""
    return OutcomeRow(
        project,
        outcome.run_id,
        outcome.source,
        outcome.id or digest(outcome),
        outcome.result,
        outcome.reason,
        outcome.score,
        outcome.time_ns,
        from_telemetry,
    )


def digest(outcome: Outcome) -> str:
    """The idempotency key of an outcome without one: the same statement at the same time is the same."""
    content = (outcome.run_id, outcome.result, outcome.source, outcome.reason, outcome.score, outcome.time_ns)
    return hashlib.blake2b(repr(content).encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()
