"""`POST /api/v1/freeze`: runs whose results must not move any more, and runs that may again."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from collector.serve.access import need
from collector.serve.outcomes import DEFAULT_PROJECT, known_of
from collector.serve.problems import FieldError, Refused
from collector.serve.strict import StrictJSON
from collector.store.store import Store
from collector.tokens import Grant

router = APIRouter()


class Freeze(BaseModel):
    """Which runs, of one project; `frozen: false` lets them go."""

    model_config = ConfigDict(extra="forbid")

    runs: Annotated[list[str], Field(min_length=1, max_length=10_000)]
    project: str = ""
    frozen: bool = True


@router.post("/api/v1/freeze", summary="Freeze runs: later spans are kept, results do not move")
def freeze(request: Request, asked: Freeze) -> StrictJSON:
    """Late spans, outcomes and changed checks move no frozen run. A run that was let go is judged again at once."""
    grant: Grant = request.state.grant
    need(grant, "label")
    if grant.project and asked.project not in ("", grant.project):
        raise Refused(403, "the token is for another project", FieldError("/project", "not the token's project"))
    project = grant.project or asked.project or DEFAULT_PROJECT
    store: Store = request.app.state.store
    keys = [(project, run_id) for run_id in dict.fromkeys(asked.runs)]
    unknown = [run_id for _, run_id in sorted(set(keys) - known_of(store, keys))]
    if unknown:
        raise Refused(404, f"no run of this id is known: {unknown[0]}", FieldError("/runs", "unknown"))
    store.freeze(keys, frozen=asked.frozen)
    return StrictJSON({"project": project, "runs": len(keys), "frozen": asked.frozen})
