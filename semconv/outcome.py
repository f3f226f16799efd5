"""An outcome: what is known of the end state of a run (CONTRACT.md sections 1 and 2)."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

OutcomeResult = Literal["pass", "fail", "error", "invalid"]
OutcomeSource = Literal["human", "environment", "harness", "check", "judge"]


class Outcome(Struct, frozen=True, omit_defaults=True):
    """One statement about a run's end state. `time_ns` orders statements of one source; the latest counts."""

    run_id: str
    result: OutcomeResult
    source: OutcomeSource
    reason: str = ""
    score: float | None = None
    time_ns: int = 0
    id: str = ""  # idempotency key; '' means: derived from the content
