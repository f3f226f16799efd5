"""The log of what gates decided, as they decided it."""

from __future__ import annotations

from msgspec import Struct


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
