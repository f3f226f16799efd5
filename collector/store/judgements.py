"""Answers of models as stored: what is known of runs, what the same content got before, and what it all cost."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from collector.store.client import Connections
from collector.store.columns import TableColumns
from collector.store.reader import Key, Reader
from collector.store.sqlfiles import statement

HOUR_NS = 3_600_000_000_000
DAY_NS = 24 * HOUR_NS


class Judgement(Struct, frozen=True):
    """One row of `judgements` (queries/schema/0034_judgements.sql)."""

    project: str
    run_id: str
    check_id: str
    check_version: str
    input_digest: str
    status: str
    reason: str
    lines: tuple[int, ...]
    model: str
    answered: str = ""
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    took_ms: int = 0
    asked_ns: int = 0


class Answered(Struct, frozen=True):
    """What a model said of one content."""

    check_id: str
    check_version: str
    input_digest: str
    status: str
    reason: str
    lines: tuple[int, ...]


class Known(Struct, frozen=True):
    """The answer that the same content got before."""

    status: str
    reason: str
    lines: tuple[int, ...]
    model: str
    answered: str


class Spent(Struct, frozen=True):
    """What was spent since some time."""

    calls: int = 0
    tokens: int = 0
    cost_usd: float = 0.0


class Judgements:
    """Reads and writes `judgements`. Methods raise StoreError."""

    def __init__(self, connections: Connections, reader: Reader, types: dict[str, str]) -> None:
        self._connections = connections
        self._reader = reader
        self._columns = TableColumns("judgements", Judgement, types)

    def add(self, judgement: Judgement) -> None:
        """Keep an answer, unless its run was removed while the model was asked."""
        with self._connections.writer():
            if self._reader.tombstones.find(judgement.project, judgement.run_id) is None:
                self._connections.insert("judgements", self._columns.arrow([judgement]))

    def of_runs(self, runs: Iterable[Key]) -> dict[Key, list[Answered]]:
        """What was answered of (project, run_id)."""
        asked = sorted(set(runs))
        found: dict[Key, list[Answered]] = {}
        rows = self._reader.rows(statement("judge/of_runs"), keys=asked) if asked else ()
        for project, run_id, check_id, version, digest, status, reason, lines in rows:
            answered = Answered(check_id, version, digest, status, reason, tuple(lines))
            found.setdefault((project, run_id), []).append(answered)
        return found

    def known(self, project: str, check_version: str, digest: str) -> Known | None:
        """The answer to the same content, of any run of the project."""
        asked = {"project": project, "check_version": check_version, "digest": digest}
        rows = self._reader.rows(statement("judge/known"), **asked)
        return Known(rows[0][0], rows[0][1], tuple(rows[0][2]), *rows[0][3:]) if rows else None

    def spent(self, now_ns: int) -> tuple[Spent, Spent]:
        """In the last hour, and in the last day."""
        row = self._reader.rows(statement("judge/spent"), hour_ns=now_ns - HOUR_NS, day_ns=now_ns - DAY_NS)[0]
        return Spent(*row[:3]), Spent(*row[3:])
