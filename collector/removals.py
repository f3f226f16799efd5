"""A run removed for good, step by step; where each removal stands is in the store: a kill at any step is mended.

    requested ──hide──▶ hidden ──sweep──▶ swept ──sweep again──▶ removed

Written down first, then taken out of every view, then deleted from every table. The second sweep comes when what was
in the spool has passed and every other collector knows of the removal: until then one of them may have stored a span.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from msgspec.structs import replace

from collector.assemble import Policy, records_of_runs
from collector.errors import NotFound
from collector.quarantine import forget
from collector.spool import Spool
from collector.store.records import Unit
from collector.store.store import Store
from collector.store.tombstones import State, Tombstone
from semconv.facts import SpanFacts

log = logging.getLogger("passhat.removal")

GRACE_S = 120.0  # what another collector read before it knew of a removal is stored by then
SECOND_NS = 1_000_000_000


class Removals:
    """Removes runs. `spool` is this process's, None when none is open: then nothing can be on its way.

    `step` is told of every step before and after it, for tests that end the process there.
    """

    def __init__(
        self,
        store: Store,
        policy: Policy,
        spool: Spool | None = None,
        *,
        grace_s: float = GRACE_S,
        step: Callable[[str], None] = lambda name: None,
    ) -> None:
        self._store = store
        self._policy = policy
        self._spool = spool
        self._grace_s = 0.0 if store.embedded else grace_s  # nobody else writes to an embedded store
        self._step = step
        self._lock = threading.Lock()  # one removal at a time
        self.asked = threading.Event()

    def request(self, project: str, run_id: str) -> State:
        """Write the removal down and take the run out of every view; the rest follows. Raises NotFound, StoreError."""
        with self._lock:
            stone = self._store.tombstones.find(project, run_id)
            if stone is None:
                stone = self._scope(project, run_id)
                self._step("before requested")
                stone = self._store.tombstones.put(stone)
                self._step("requested")
            if stone.state == "requested":
                stone = self._hide(stone)
            self.asked.set()
            return stone.state

    def advance(self) -> int:
        """Take each unfinished removal as far as it goes now; how many are left."""
        tombstones = self._store.tombstones
        with self._lock:
            if not self._store.embedded:
                tombstones.refresh()
            for stone in tombstones.learned():
                tombstones.put(stone)
            for stone in tombstones.pending():
                self._advance(stone)
            return len(tombstones.pending())

    def _advance(self, stone: Tombstone) -> None:
        if stone.state == "requested":
            stone = self._hide(stone)
        if stone.state == "hidden":
            stone = self._sweep(stone, "swept")
        if stone.state == "swept" and self._has_passed(stone):
            self._sweep(stone, "removed")

    def _hide(self, stone: Tombstone) -> Tombstone:
        self._store.removal.hide(stone)
        self._step("hiding")
        stone = self._store.tombstones.put(replace(stone, state="hidden"))
        self._step("hidden")
        return stone

    def _sweep(self, stone: Tombstone, state: State) -> Tombstone:
        if not self._store.removal.is_hidden(stone):
            self._store.removal.hide(stone)
        self._store.removal.sweep(stone)
        if self._spool is not None:
            forget(self._spool.path, stone.ids)
        self._step(f"{state}: swept")
        stone = self._store.tombstones.put(replace(stone, state=state))
        self._step(state)
        log.info("removal of a run of project %s: %s", stone.project, state)
        return stone

    def _has_passed(self, stone: Tombstone) -> bool:
        if self._store.now_ns() < stone.requested_ns + int(self._grace_s * SECOND_NS):
            return False
        oldest_ns = self._spool.stats().oldest_received_ns if self._spool is not None else 0
        return oldest_ns == 0 or oldest_ns > stone.requested_ns

    def _scope(self, project: str, run_id: str) -> Tombstone:
        """What is the run's: whole traces where it was alone, else its own spans and log records."""
        removal = self._store.removal
        places = removal.places(project, run_id)
        if places is None:
            raise NotFound(f"there is no run {run_id!r}")
        units, traces = places
        read = self._store.read_units([(project, unit) for unit in units])
        parts = [self._part(unit, run_id) for unit in {unit.members: unit for unit in read.values()}.values()]
        records = [record for own, _ in parts for record in own]
        names = {*map(_unit_of, records), *traces} - {""}
        shared = {name for _, others in parts for name in others}
        shared |= removal.shared_traces(project, run_id, sorted(names))
        parted = [record for record in records if _unit_of(record) in shared]
        return Tombstone(
            project=project,
            run_id=run_id,
            traces=tuple(sorted(names - shared)),
            spans=tuple(f"{record.trace_id}:{record.span_id}" for record in parted if record.signal == "span"),
            logs=tuple(f"{_unit_of(record)}:{record.content_hash}" for record in parted if record.signal == "log"),
            records=len(records),
            requested_ns=self._store.now_ns(),
        )

    def _part(self, unit: Unit, run_id: str) -> tuple[list[SpanFacts], set[str]]:
        """The run's records in a unit, and the traces of it that hold records of other runs."""
        closures = {row.run_id: row.closed_ns for row in unit.runs if row.alive and row.closed_ns}
        runs = records_of_runs(unit.facts, policy=self._policy, closures=closures)
        others = {_unit_of(one) for name, records in runs.items() if name != run_id for one in records}
        return list(runs.get(run_id, ())), others


def _unit_of(record: SpanFacts) -> str:
    return record.trace_id or next(iter(record.facts.join_keys), "")
