"""`DELETE /api/v1/runs/{run_id}`: the run out of every view at once, out of every table soon, and never in again."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request

from collector.removals import Removals
from collector.serve.access import need
from collector.serve.problems import FieldError, Refused
from collector.serve.strict import StrictJSON
from collector.store.store import Store
from collector.tokens import Grant

router = APIRouter()


@router.delete("/api/v1/runs/{run_id:any}", summary="Remove a run for good")
def remove(request: Request, run_id: str, project: Annotated[str, Query()] = "") -> StrictJSON:
    """202 while its rows are still being deleted, 200 once they are; asking again tells how far it is."""
    grant: Grant = request.state.grant
    need(grant, "admin")
    if grant.project and project not in ("", grant.project):
        raise Refused(403, "the token is for another project", FieldError("?project", "not the token's project"))
    removals: Removals = request.app.state.removals
    place = project_of(request.app.state.store, run_id, grant.project or project)
    state = removals.request(place, run_id)
    if not request.app.state.upkeep:  # nobody else will go on with it
        removals.advance()
        state = removals.request(place, run_id)
    told = {"run_id": run_id, "project": place, "state": state}
    return StrictJSON(told, status_code=200 if state == "removed" else 202)


def project_of(store: Store, run_id: str, project: str) -> str:
    """The project of a run, there or removed. Raises Refused: 404 unknown, 409 when several projects have one."""
    found = sorted({*store.removal.projects(run_id), *store.tombstones.projects(run_id)})
    found = [one for one in found if project in ("", one)]
    if not found:
        raise Refused(404, f"there is no run {run_id!r}")
    if len(found) > 1:
        raise Refused(
            409, f"several projects have a run of this id: {', '.join(found)}", FieldError("?project", "say which")
        )
    return found[0]
