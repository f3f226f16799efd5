"""A run removed for good, step by step; where each removal stands is in the store: a kill at any step is mended.

    requested ──hide──▶ hidden ──sweep──▶ swept ──sweep again──▶ removed

Written down first, then taken out of every view, then deleted from every table. The second sweep comes when what was
in the spool has passed and every other collector knows of the removal: until then one of them may have stored a span.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from collector.assemble import Policy, records_of_runs
from collector.errors import NotFound, StoreError
from collector.quarantine import entries_in, forget
from collector.spool import Spool
from collector.store.records import Unit
from collector.store.store import Store
from collector.store.tombstones import State, Tombstone, keys_of, unit_of
from semconv.facts import SpanFacts
from semconv.names import RESPONSE_ID

log = logging.getLogger("passhat.removal")

GRACE_S = 120.0  # what another collector read before it knew of a removal is stored by then
SECOND_NS = 1_000_000_000


class Removals:
    """Removes runs. `spool` is this process's; `folder` names one that no process has open.

    `step` is told of every step before and after it, for tests that end the process there.
    """

    def __init__(
        self,
        store: Store,
        policy: Policy,
        spool: Spool | Path,
        *,
        grace_s: float = GRACE_S,
        step: Callable[[str], None] = lambda name: None,
    ) -> None:
        self._store = store
        self._policy = policy
        self._spool = spool
        self._folder = spool if isinstance(spool, Path) else spool.path
        self._grace_s = 0.0 if store.embedded else grace_s  # nobody else writes to an embedded store
        self._step = step
        self._lock = threading.Lock()  # one step at a time
        self._since: dict[tuple[str, str], int] = {}  # when this process learned of each, ns by the spool's clock
        self.asked = threading.Event()
        self.stopped = False

    def request(self, project: str, run_id: str) -> Tombstone:
        """Write the removal down and take the run out of every view; the rest follows. Raises NotFound, StoreError."""
        with self._lock:
            stone = self._requested(project, run_id)
        self.asked.set()
        return stone

    def _requested(self, project: str, run_id: str) -> Tombstone:
        stone = self._store.tombstones.find(project, run_id)
        if stone is None:
            stone = self._scope(project, run_id)
            self._step("before requested")
            stone = self._store.tombstones.put(stone)
            self._step("requested")
        return self._hide(stone) if stone.state == "requested" else stone

    def advance(self) -> int:
        """Take each unfinished removal as far as it goes now; how many are left. Raises StoreError at the end."""
        tombstones = self._store.tombstones
        if not self._store.embedded:
            tombstones.refresh()
        failed: StoreError | None = None
        for stone in tombstones.pending():
            if self.stopped:
                break
            try:
                self._advance(stone)
            except StoreError as error:  # one that fails must not keep the others waiting
                failed = failed or error
        if failed is not None:
            raise failed
        return len(tombstones.pending())

    def tidy(self) -> None:
        """Now and then: what was set aside since, and log records sent again that only the table can tell."""
        for stone in self._store.tombstones.all():
            forget(self._folder, stone.project, stone.ids)
            if stone.logs and stone.state == "removed":
                self._store.removal.sweep(stone)

    def _advance(self, stone: Tombstone) -> None:
        since_ns = self._since.setdefault(stone.key, time.time_ns())
        with self._lock:
            if stone.state == "requested":
                stone = self._hide(stone)
            if stone.state == "hidden":
                stone = self._sweep(stone, "swept")
                # What was assembled together with it has lost a member, and must not look for it again.
                self._store.touch([(stone.project, unit) for unit in stone.beside])
            if stone.state == "swept" and self._has_passed(stone, since_ns):
                self._sweep(stone, "removed")
                self._since.pop(stone.key)

    def _hide(self, stone: Tombstone) -> Tombstone:
        self._store.removal.hide(stone)
        self._step("hiding")
        stone = self._store.tombstones.put(replace(stone, state="hidden"))
        self._step("hidden")
        return stone

    def _sweep(self, stone: Tombstone, state: State) -> Tombstone:
        if not self._store.removal.is_hidden(stone):
            self._store.removal.hide(stone)
        for piece in self._store.removal.pieces(stone):  # came before the span that told whose it is
            self._requested(stone.project, piece)
        self._store.removal.sweep(stone)
        forget(self._folder, stone.project, stone.ids)
        self._step(f"{state}: swept")
        stone = self._store.tombstones.put(replace(stone, state=state))
        self._step(state)
        log.info("removal of a run of project %s: %s", stone.project, state)
        return stone

    def _has_passed(self, stone: Tombstone, since_ns: int) -> bool:
        """Whether nothing is on its way any more that was read before all knew of the removal."""
        if self._store.now_ns() < stone.requested_ns + int(self._grace_s * SECOND_NS):
            return False
        if isinstance(self._spool, Path):
            return not entries_in(self._spool)
        oldest_ns = self._spool.stats().oldest_received_ns
        return oldest_ns == 0 or oldest_ns > since_ns

    def _scope(self, project: str, run_id: str) -> Tombstone:
        """What is the run's: whole traces and join keys where it was alone, else its own spans and log records."""
        removal = self._store.removal
        places = removal.places(project, run_id)
        if places is None:
            raise NotFound(f"there is no run {run_id!r}")
        units, traces = places
        read = {unit.members: unit for unit in self._store.read_units([(project, unit) for unit in units]).values()}
        runs = [self._runs_of(unit) for unit in read.values()]
        records = [record for one in runs for record in one.get(run_id, ())]
        others = [record for one in runs for name, some in one.items() if name != run_id for record in some]
        names = {*map(unit_of, records), *traces} - {""}
        shared = {*map(unit_of, others), *removal.shared_traces(project, run_id, sorted(names))}
        whole = names - shared
        parted = [record for record in records if unit_of(record) in shared]
        spans = [f"{record.trace_id}:{record.span_id}" for record in parted if record.signal == "span"]
        keys = _keys_of_all(records) - _keys_of_all(others)
        keys |= {f"{RESPONSE_ID}={one}" for one in removal.responses(project, sorted(whole), spans)}
        now_ns = self._store.now_ns()
        rows = {row.run_id: row for unit in read.values() for row in unit.runs}
        return Tombstone(
            project=project,
            run_id=run_id,
            traces=tuple(sorted(whole | keys)),
            spans=tuple(spans),
            logs=tuple(f"{unit_of(record)}:{record.content_hash}" for record in parted if record.signal == "log"),
            beside=tuple(sorted({name for unit in read.values() for name in unit.members} - whole)),
            records=len(records),
            closed_ns=rows[run_id].closed_ns or now_ns if run_id in rows else now_ns,
            requested_ns=now_ns,
        )

    def _runs_of(self, unit: Unit) -> dict[str, tuple[SpanFacts, ...]]:
        return records_of_runs(unit.facts, policy=self._policy, closures=unit.closures)


def _keys_of_all(records: list[SpanFacts]) -> set[str]:
    return {key for record in records for key in keys_of(record.facts)}
