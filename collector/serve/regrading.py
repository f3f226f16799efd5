"""`/api/v1/regrade` and `/api/v1/checks/test`: what changed checks mean for the runs that are there."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from collector.config import Config
from collector.grade.grader import Grader
from collector.grade.rehearsal import rehearse
from collector.rules import assembly_policy_of, checks_of, trial_policy_of
from collector.serve.access import need
from collector.serve.parameters import Filters
from collector.serve.problems import FieldError, Refused
from collector.serve.runs import EVERY_TIME
from collector.serve.sql import read
from collector.serve.strict import StrictJSON
from collector.serve.times import LAST_MS, Asked, window_of
from collector.store.store import Store
from graders import CheckError, CheckSet
from graders.checks.external import External
from graders.errors import CheckBroke

router = APIRouter()

TOUCHED_AT_ONCE = 1000
MOST_REHEARSED = 20_000
ALL = 2**31
OUTSIDE = {
    "python": "runs a program",
    "command": "runs a program",
    "judge": "asks a model",
}


class RegradeQuery(Filters):
    """Which runs: by when they ended, by a check, by every filter of the reading calls."""

    window: str = ""
    since: str = ""
    until: str = ""
    check: str = ""

    def asked(self) -> Asked:
        return Asked(window=self.window, since=self.since, until=self.until)


class ChecksIn(BaseModel):
    """Checks, tags and actions as `passhat.yaml` has them."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    checks: list[dict[str, Any]] | None = None
    tags: dict[str, str] = {}
    actions: dict[str, Any] = {}
    limit: Annotated[int, Field(ge=1, le=MOST_REHEARSED)] = 2000


@router.get("/api/v1/regrade", summary="Runs that earlier checks graded")
def waiting(request: Request, query: Annotated[RegradeQuery, Query()]) -> StrictJSON:
    """How many closed runs the checks in force have not graded yet."""
    need(request.state.grant, "read")
    store: Store = request.app.state.store
    epoch, digest = store.checks_in_force()
    rows = _regradable(request, query, epoch, ALL)
    return StrictJSON({"runs": sum(row["runs"] for row in rows), "checks": digest, "epoch": epoch})


@router.post("/api/v1/regrade", summary="Grade them again by the checks in force")
def regrade(request: Request, query: Annotated[RegradeQuery, Query()]) -> StrictJSON:
    """Ask for the runs to be graded again; `GET` tells how many are left.

    What is asked for is kept in the store: after a crash the next start goes on with it.
    """
    need(request.state.grant, "admin")
    store: Store = request.app.state.store
    epoch, digest = store.checks_in_force()
    rows = _regradable(request, query, epoch, ALL)
    units = [(row["project"], row["unit"]) for row in rows]
    for start in range(0, len(units), TOUCHED_AT_ONCE):
        store.touch(units[start : start + TOUCHED_AT_ONCE])
    told = {"runs": sum(row["runs"] for row in rows), "checks": digest, "epoch": epoch, "asked_ns": store.now_ns()}
    return StrictJSON(told, status_code=202)


@router.post("/api/v1/checks/test", summary="What would these checks have said?")
def test(request: Request, asked: ChecksIn, query: Annotated[RegradeQuery, Query()]) -> StrictJSON:
    """Grade stored runs with other checks, the newest first, and write nothing: counts, examples, changed trials."""
    need(request.state.grant, "admin")
    config: Config = request.app.state.config
    store: Store = request.app.state.store
    checks = _compiled(asked, config)
    rows = _regradable(request, query, ALL, asked.limit)
    said = rehearse(
        store, Grader(checks, assembly_policy_of(config), 0, _refused), [(r["project"], r["unit"]) for r in rows]
    )
    return StrictJSON({**msgspec.to_builtins(said), "checks": [msgspec.to_builtins(t) for t in said.checks.values()]})


def _compiled(asked: ChecksIn, config: Config) -> CheckSet:
    for index, check in enumerate(asked.checks or ()):
        if check.get("kind") in OUTSIDE:
            # A request must not choose a program to run here, nor spend what a model costs.
            kind = str(check["kind"])
            field = FieldError(f"/checks/{index}/kind", OUTSIDE[kind])
            raise Refused(422, f"{kind} checks are tried where they are configured, not over the API", field)
    try:
        return CheckSet.compile(asked.checks, asked.tags, asked.actions, trial_policy_of(config))
    except CheckError as error:
        raise Refused(422, str(error), FieldError("/checks", error.check_id or error.key)) from None


def _refused(external: External, request: bytes) -> bytes:
    raise CheckBroke("not run over the API")


def _regradable(request: Request, query: RegradeQuery, epoch: int, limit: int) -> list[dict[str, Any]]:
    store: Store = request.app.state.store
    everything = not (query.window or query.since or query.until)
    window = None if everything else window_of(query.asked(), store.now_ns() // 1_000_000, default=EVERY_TIME)
    version = ""
    if query.check:
        versions = {check.id: check.version for check in checks_of(request.app.state.config).checks}
        if query.check not in versions:
            raise Refused(404, f"no check '{query.check}' is in force", FieldError("?check", "unknown"))
        version = versions[query.check]
    return read(
        store,
        "regradable",
        {
            **query.bound(request.state.grant),
            "epoch": epoch,
            "start_ms": window.start_ms if window else 0,
            "end_ms": window.end_ms if window else LAST_MS,
            "check": query.check,
            "check_version": version,
            "limit": limit,
        },
    )
