"""How the collector itself is doing: `/api/v1/status`, `/metrics`, `/healthz`, `/readyz`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from prometheus_client import Metric
from prometheus_client.exposition import choose_encoder

from collector.errors import PasshatError
from collector.metrics import Metrics
from collector.serve.access import need
from collector.serve.problems import Refused, problem
from collector.serve.sql import read
from collector.serve.strict import StrictJSON
from collector.serve.task_gauges import Together
from collector.tokens import Grant

router = APIRouter()

FIXES = {
    "awaiting_outcome": "report one: passhat.outcome on the root span, an evaluation event, or `passhat outcome`",
    "nothing_judged": "no gating check had anything to judge: add one for this task, or report outcomes",
    "evidence": "tool arguments or results were cut or not captured: turn content capture on in the agent",
    "incomplete": "the root span never came: flush and shut the exporter down before the agent exits",
    "pending": "still open: passhat waits for quiet after the root span ends (runs.settle_s, runs.idle_s)",
}


@router.get("/api/v1/status", summary="What was accepted, stored, graded and refused, and what is in the way")
def status(request: Request) -> StrictJSON:
    grant: Grant = request.state.grant
    need(grant, "read")
    counted = counts(request.app.state.metrics)
    return StrictJSON({**counted, **request.app.state.status(), "blocked": blocked(request, grant)})


@router.get("/metrics", summary="Prometheus metrics", response_class=Response)
def metrics(request: Request) -> Response:
    """What passhat counts of itself, and the reliability of the most tried tasks."""
    grant: Grant = request.state.grant
    need(grant, "read")
    encode, content_type = choose_encoder(request.headers.get("accept", ""))
    tasks = request.app.state.task_gauges.collect([grant.project] if grant.project else [])
    together = Together(iter(request.app.state.metrics.registry.collect()), tasks)
    return Response(encode(together), media_type=content_type)


@router.head("/healthz", include_in_schema=False)
@router.get("/healthz", summary="Alive")
def healthz(request: Request) -> StrictJSON:
    """The process answers, whatever state it is in: nothing that a restart would mend is told by a status."""
    return StrictJSON({"status": "alive", **_state(request.app.state.status())})


@router.head("/readyz", include_in_schema=False)
@router.get("/readyz", summary="Ready: export requests are taken")
def readyz(request: Request) -> Response:
    """Ready: export requests are taken. A store that is away does not change that: the spool holds them meanwhile."""
    status = request.app.state.status()
    if status.get("ready", True):
        return StrictJSON({"status": "ready", **_state(status)})
    refusing = [one for one in status.get("problems", ()) if one["refuses"]]
    why = ", ".join(one["stage"] for one in refusing) or status.get("health", "starting")
    hint = "; ".join(one["hint"] for one in refusing)
    return problem(Refused(503, f"requests are not taken: {why}", hint=hint), {"Retry-After": "1"})


def _state(status: dict[str, Any]) -> dict[str, Any]:
    """The state for everybody: without the texts of errors, which may name hosts and paths."""
    problems = [{"stage": one["stage"], "hint": one["hint"]} for one in status.get("problems", ())]
    return {"health": status.get("health", "ok"), "problems": problems}


def blocked(request: Request, grant: Grant) -> list[dict[str, Any]]:
    """Why runs of the last week count nowhere, how many each, and what helps; nothing while the store is away."""
    try:
        rows = read(request.app.state.store, "blocked", {"project": [grant.project] if grant.project else []})
    except PasshatError:  # `problems` says so: what the collector does must be told all the same
        return []
    return [{**row, "fix": FIXES.get(row["reason"], "")} for row in rows]


def counts(own: Metrics) -> dict[str, Any]:
    """The counters since the start of this process, by signal, result or reason."""
    refused: dict[str, float] = {}
    for labels, value in samples(own.refused.collect()):
        refused[labels["reason"]] = refused.get(labels["reason"], 0) + value
    return {
        "accepted": {labels["signal"]: int(value) for labels, value in samples(own.accepted.collect())},
        "stored": {labels["signal"]: int(value) for labels, value in samples(own.stored.collect())},
        "graded": {labels["result"]: int(value) for labels, value in samples(own.graded.collect())},
        "refused": {reason: int(value) for reason, value in refused.items()},
        "dialects": {labels["dialect"]: int(value) for labels, value in samples(own.dialects.collect())},
        "unmapped": sum(int(value) for _, value in samples(own.unmapped.collect())),
        "not_a_run": sum(int(value) for _, value in samples(own.not_a_run.collect())),
    }


def samples(collected: Iterable[Metric]) -> Iterable[tuple[dict[str, str], float]]:
    """Labels and value of each child of a counter, without the `_created` times."""
    for metric in collected:
        for sample in metric.samples:
            if sample.name.endswith("_total"):
                yield sample.labels, sample.value
