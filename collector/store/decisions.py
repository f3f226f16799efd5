"""What was decided once and is kept so: answers of gates, results of frozen runs."""

from __future__ import annotations

from msgspec import Struct


class Frozen(Struct, frozen=True):
    """A row of `frozen_runs`: whether the results of a run stay as they are."""

    project: str
    run_id: str
    frozen: bool


class Decided(Struct, frozen=True):
    """A row of `gate_decisions`; times in milliseconds since the epoch, `question` and `answer` JSON."""

    gate_id: str
    name: str
    project: str
    decision: str
    at: int
    decided_at: int
    question: str
    answer: str
