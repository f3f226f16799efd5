"""`GET /api/v1/retention`: what each table holds, how long, and what is about to go."""

from __future__ import annotations

from fastapi import APIRouter, Request
from msgspec import to_builtins

from collector.serve.access import need
from collector.serve.problems import Refused
from collector.serve.strict import StrictJSON
from collector.tokens import Grant

router = APIRouter()


@router.get("/api/v1/retention", summary="Rows, bytes and age of each table, and what of it expires")
def retention(request: Request) -> StrictJSON:
    """`keep_s` is null where rows stay for ever; `expired` rows go with the next merge, `soon` within a week."""
    grant: Grant = request.state.grant
    need(grant, "read")
    if grant.project:
        raise Refused(403, "tables hold the rows of every project", hint="ask with a token that is not of one project")
    tables = request.app.state.store.retention.tables()
    return StrictJSON({"tables": [to_builtins(table) for table in tables]})
