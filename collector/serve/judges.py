"""`GET /api/v1/judges`: how far the models that judge agree with people."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict

from collector.rules import judges_of
from collector.serve.access import need
from collector.serve.parameters import Filters
from collector.serve.sql import Row, read
from collector.serve.strict import StrictJSON
from collector.store.store import Store
from collector.tokens import Grant

router = APIRouter()

UNKNOWN = "unknown"
COUNTS = ("judged", "labelled", "tp", "fp", "tn", "fn", "unanswered")
RATES = ("tpr", "tnr", "kappa")


class JudgesQuery(BaseModel):
    """`GET /api/v1/judges`."""

    model_config = ConfigDict(extra="forbid")

    project: list[str] = []


@router.get("/api/v1/judges", summary="Judge checks, and how far they agree with people")
def judges(request: Request, query: Annotated[JudgesQuery, Query()]) -> StrictJSON:
    """Each judge check in force and each that has judged a run: counts against human outcomes, rates with intervals.

    `calibration` is `unknown` until people have passed ten of the runs it judged and failed ten.
    """
    grant: Grant = request.state.grant
    need(grant, "read")
    bound = Filters(project=query.project).bound(grant)
    in_force = judges_of(request.app.state.config)
    rows = read(request.app.state.store, "judges", {"project": bound["project"]})
    told = [_told(row, in_force) for row in rows]
    seen = {(one["check_id"], one["check_version"]) for one in told}
    for check in in_force.values():
        if (check.id, check.version) not in seen:
            told.append(_told({"project": "", "check_id": check.id, "check_version": check.version}, in_force))
    return StrictJSON({"judges": told})


def marked(store: Store, project: str, verdicts: list[Row]) -> list[Row]:
    """Verdicts of a run, those of models with their `calibration`."""
    if any(verdict["kind"] == "judge" for verdict in verdicts):
        rows = read(store, "judges", {"project": [project]})
        known = {(row["check_id"], row["check_version"]): row["calibration"] for row in rows}
        for verdict in verdicts:
            if verdict["kind"] == "judge":
                verdict["calibration"] = known.get((verdict["check_id"], verdict["check_version"]), UNKNOWN)
    return verdicts


def _told(row: Row, in_force: dict[str, Any]) -> Row:
    check = in_force.get(row["check_id"])
    current = check is not None and check.version == row["check_version"]
    names = {key: row[key] for key in ("project", "check_id", "check_version")}
    model = check.judge.model if check is not None and current and check.judge is not None else ""
    rates = {
        rate: {"value": row.get(rate), "low": row.get(f"{rate}_low"), "high": row.get(f"{rate}_high")} for rate in RATES
    }
    counts = {count: row.get(count, 0) for count in COUNTS}
    return {
        **names,
        "in_force": current,
        "model": model,
        **counts,
        **rates,
        "calibration": row.get("calibration", UNKNOWN),
    }
