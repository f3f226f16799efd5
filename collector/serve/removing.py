"""`DELETE /api/v1/runs/{run_id}`: the run out of every view at once, out of every table soon, and never in again."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict

from collector.removals import Removals
from collector.serve.access import need
from collector.serve.problems import WHICH_PROJECT, FieldError, Refused, listed
from collector.serve.strict import StrictJSON
from collector.serve.times import rfc3339
from collector.store.store import Store
from collector.store.tombstones import Tombstone
from collector.tokens import Grant

router = APIRouter()


@router.delete("/api/v1/runs/{run_id:any}", summary="Remove a run for good")
def remove(request: Request, run_id: str, project: Annotated[str, Query()] = "") -> StrictJSON:
    """202 while its rows are still being deleted, 200 once they are; asking again changes nothing and tells how far
    it is, as `progress` does.
    """
    grant: Grant = request.state.grant
    need(grant, "admin")
    if grant.project and project not in ("", grant.project):
        raise Refused(403, "the token is for another project", FieldError("?project", "not the token's project"))
    store: Store = request.app.state.store
    removals: Removals = request.app.state.removals
    place = project_of(store, run_id, grant.project or project)
    stone = removals.request(place, run_id)
    if not request.app.state.upkeep:
        removals.advance()
        stone = removals.request(place, run_id)
    request.app.state.task_gauges.forget()
    reply = StrictJSON(told(stone), status_code=200 if stone.state == "removed" else 202)
    reply.headers["Location"] = progress(stone)
    return reply


class Which(BaseModel):
    """Of which projects, of which run."""

    model_config = ConfigDict(extra="forbid")

    project: str = ""
    run_id: str = ""
    limit: int = 100


@router.get("/api/v1/removals", summary="Removed runs: how far each removal is")
def standing(request: Request, which: Annotated[Which, Query()]) -> StrictJSON:
    """The newest first; `pending` counts those that are not complete."""
    grant: Grant = request.state.grant
    need(grant, "read")
    found = [
        stone
        for stone in request.app.state.store.tombstones.all()
        if grant.project in ("", stone.project)
        and which.project in ("", stone.project)
        and which.run_id in ("", stone.run_id)
    ]
    pending = sum(stone.state != "removed" for stone in found)
    return StrictJSON({"removals": [told(stone) for stone in found[: max(0, which.limit)]], "pending": pending})


def told(stone: Tombstone) -> dict[str, Any]:
    """A removal: what it takes away, how far it is, where to ask. `shared_traces` keep what other runs have in them."""
    return {
        "run_id": stone.run_id,
        "project": stone.project,
        "state": stone.state,
        "requested": rfc3339(stone.requested_ns),
        "records": stone.records,
        "traces": [unit for unit in stone.traces if "=" not in unit],
        "shared_traces": sorted(stone.shared),
        "progress": progress(stone),
    }


def progress(stone: Tombstone) -> str:
    """Where this removal is told of."""
    which = {"run_id": stone.run_id, "project": stone.project}
    return f"/api/v1/removals?{urlencode(which, quote_via=quote, errors='replace')}"


def project_of(store: Store, run_id: str, project: str) -> str:
    """The project of a run, there or removed. Raises Refused: 404 unknown, 409 when several projects have one."""
    found = sorted({*store.removal.projects(run_id), *store.tombstones.projects(run_id)})
    found = [one for one in found if project in ("", one)]
    if not found:
        raise Refused(404, f"there is no run {run_id!r}", FieldError("run_id", "unknown"))
    if len(found) > 1:
        at_fault = FieldError("?project", "say which")
        raise Refused(409, f"several projects have a run of this id: {listed(found)}", at_fault, hint=WHICH_PROJECT)
    return found[0]
