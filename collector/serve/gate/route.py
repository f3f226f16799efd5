"""`GET /api/v1/gate`: may this be merged? And `GET /api/v1/gates`: which policies have a name."""

from __future__ import annotations

import uuid
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from collector.serve.access import need
from collector.serve.gate.answer import answered
from collector.serve.gate.numbers import anchored, numbers_of, projects_of
from collector.serve.gate.question import GateQuery, filters_of, policy_of
from collector.serve.problems import WHICH_PROJECT, FieldError, Refused, listed
from collector.serve.strict import StrictJSON, dumps
from collector.serve.times import Window, point_ms, rfc3339_ms
from collector.store.decisions import Decided
from collector.store.store import Store
from collector.tokens import Grant

router = APIRouter()


@router.get("/api/v1/gates", summary="The named policies of the gate")
def gates(request: Request) -> StrictJSON:
    """Every policy of `gates:`, by name."""
    need(request.state.grant, "read")
    named = request.app.state.config.gates
    return StrictJSON(
        {"gates": [{"name": name, **named[name].model_dump(mode="json", by_alias=True)} for name in sorted(named)]}
    )


@router.get("/api/v1/gate", summary="Allow, deny, or too little to say: pass^k against a policy")
def gate(request: Request, query: Annotated[GateQuery, Query()]) -> StrictJSON:
    """Of a named policy, a task, a class, or all tasks. Only `allow` means merge.

    The window starts on the last Monday (UTC) at or before `at - window`. `low` and `high` hold at every look of a
    year together (`guarantee`), for independent trials; `deff` is how much trials of a day hang together, and n and c
    are divided by it. `at` replays a decision with what is known today. Every decision is kept in `gate_decisions`.
    """
    grant: Grant = request.state.grant
    need(grant, "read")
    store: Store = request.app.state.store
    now_ms = store.now_ns() // 1_000_000
    policy = policy_of(query, request.app.state.config.gates)
    filters = filters_of(query, policy, query.bound(grant))
    window = anchored(point_ms("at", query.at, now_ms) if query.at else now_ms, policy.window * 1000)
    if window.start_ms >= window.end_ms:
        raise Refused(400, "the window is empty", FieldError("?window", "must be longer"))
    projects = filters["project"] or projects_of(store, policy, filters, window)
    if not filters["project"] and len(projects) > 1:
        at_fault = FieldError("?project", "name one of them")
        raise Refused(400, f"several projects have such trials: {listed(projects)}", at_fault, hint=WHICH_PROJECT)
    filters["project"] = projects  # trials of a second one that arrive from here on are not pooled with the first's
    by = query.by or ("task" if filters["task"] else "class")
    answer = answered(policy, window, numbers_of(store, policy, filters, window, by))
    answer |= {"name": query.name, "task": filters["task"], "class": filters["class"], "project": filters["project"]}
    answer |= {"decided_at": rfc3339_ms(now_ms), "gate_id": uuid.uuid4().hex}
    store.log_decision(_decided(answer, query, window, now_ms))
    return StrictJSON(answer)


def _decided(answer: dict[str, Any], query: GateQuery, window: Window, now_ms: int) -> Decided:
    """The row of the log."""
    return Decided(
        gate_id=answer["gate_id"],
        name=query.name,
        project=",".join(answer["project"]),
        decision=answer["decision"],
        at=window.end_ms,
        decided_at=now_ms,
        question=dumps(query.model_dump(mode="json", by_alias=True, exclude_unset=True)).decode(),
        answer=dumps(answer).decode(),
    )
