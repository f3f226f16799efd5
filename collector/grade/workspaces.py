"""Trials that worked in one workspace at the same time, and may have seen what the other did (`shared_workspace`)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from collector.grade.grader import SHARED_WORKSPACE, Assembled, Grader
from collector.store.sqlfiles import statement
from collector.store.store import Store
from semconv.run import Run

Place = tuple[str, str]  # project, workspace


class Stay(Struct, frozen=True):
    """A run in its workspace, from when to when (ns). `unit` is one that it was assembled from."""

    place: Place
    run_id: str
    started_ns: int
    ended_ns: int
    unit: str
    flagged: bool

    def meets(self, other: Stay) -> bool:
        """Whether both were there at one moment. One that begins when the other ends did not meet it."""
        apart = self.ended_ns <= other.started_ns or other.ended_ns <= self.started_ns
        return self.place == other.place and self.run_id != other.run_id and not apart


def flag_shared(store: Store, grader: Grader, taken: Sequence[Assembled]) -> list[tuple[str, str]]:
    """Flag runs that shared a workspace and grade them as such; the (project, unit) of the runs they met.

    Of two such trials the one that is graded first meets nobody yet: those met need a new look. Raises StoreError.
    """
    own = {id(run): _stay(one, run) for one in taken for run in one.assembly.runs if run.workspace_id}
    if not own:
        return []
    mine = {_key(stay): stay for stay in own.values()}
    known = {_key(stay): stay for stay in _stored(store, list(own.values()))} | mine
    for one in taken:
        runs = list(one.assembly.runs)
        for at, run in enumerate(runs):
            if id(run) in own and any(own[id(run)].meets(other) for other in known.values()):
                runs[at] = replace(run, flags=(*run.flags, SHARED_WORKSPACE))
                one.verdicts[at] = grader.verdicts_of(runs[at])
        one.assembly = replace(one.assembly, runs=tuple(runs))
    others = [stay for key, stay in known.items() if key not in mine and not stay.flagged]
    return sorted({(stay.place[0], stay.unit) for stay in others if any(stay.meets(one) for one in own.values())})


def _key(stay: Stay) -> tuple[str, str]:
    return (stay.place[0], stay.run_id)


def _stay(one: Assembled, run: Run) -> Stay:
    place = (one.unit.project, run.workspace_id)
    return Stay(place, run.run_id, run.started_ns, run.ended_ns, one.unit.members[0], False)


def _stored(store: Store, own: Sequence[Stay]) -> list[Stay]:
    rows = store.rows(
        statement("grade/workspaces"),
        keys=sorted({stay.place for stay in own}),
        since=min(stay.started_ns for stay in own),
        until=max(stay.ended_ns for stay in own),
    )
    return [Stay((project, place), *rest) for project, place, *rest in rows]
