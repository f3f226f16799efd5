"""`POST /api/v1/outcomes`: what somebody or something knows of the end state of runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import orjson
from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from collector.serve.access import need
from collector.serve.problems import FieldError, Refused, pointer, words
from collector.serve.sql import read
from collector.serve.strict import StrictJSON
from collector.serve.times import LAST_MS, MS_NS, instant_ms
from collector.store.store import Store
from collector.tokens import Grant
from semconv.outcome import Outcome, OutcomeResult

router = APIRouter()

MAX_OUTCOMES = 1000
DEFAULT_PROJECT = "default"
DAY_MS = 86_400_000
MAX_BYTES = 4 << 20
# `check` is said by checks with `axis: outcome`, never over the API.
ApiSource = Literal["human", "environment", "harness", "judge"]


def _instant(text: str) -> str:
    ms = instant_ms(text)
    if ms is None or not 0 <= ms <= LAST_MS:
        raise ValueError("expected RFC 3339, for example 2026-11-30T12:00:00Z")
    return text


class OutcomeIn(BaseModel):
    """One statement: the run's `result`, who says so (`source`), why, and when (`time`, default: now)."""

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)

    run_id: Annotated[str, Field(min_length=1, max_length=4096)]
    result: OutcomeResult
    source: ApiSource = "harness"
    reason: Annotated[str, Field(max_length=10_000)] = ""
    score: Annotated[float, Field(allow_inf_nan=False)] | None = None
    time: Annotated[str, AfterValidator(_instant)] | None = None
    id: Annotated[str, Field(max_length=256)] = ""
    project: Annotated[str, Field(min_length=1, max_length=256)] | None = None

    def outcome(self, now_ns: int) -> Outcome:
        ms = instant_ms(self.time) if self.time else None
        return Outcome(
            run_id=self.run_id,
            result=self.result,
            source=self.source,
            reason=self.reason,
            score=self.score,
            time_ns=now_ns if ms is None else ms * MS_NS,
            id=self.id,
        )


BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "anyOf": [
                        OutcomeIn.model_json_schema(),
                        {"type": "array", "items": OutcomeIn.model_json_schema(), "maxItems": MAX_OUTCOMES},
                    ]
                }
            }
        },
    }
}
ONE = TypeAdapter(OutcomeIn)
MANY = TypeAdapter(Annotated[list[OutcomeIn], Field(min_length=1, max_length=MAX_OUTCOMES)])


@router.post("/api/v1/outcomes", summary="Report outcomes: one object, or a list", openapi_extra=BODY)
async def outcomes(request: Request) -> StrictJSON:
    """All or none are kept. 200 when every run is known, 202 when one is not: its outcome waits for it.

    What is said of a removed run is left out and marked `removed`; 410 where nothing else was said.
    `human` needs a token with the scope `label`. `id` makes a repeated statement one statement.
    """
    body = await bounded(request)
    return await run_in_threadpool(_keep, request, body)


def _keep(request: Request, body: bytes) -> StrictJSON:
    store: Store = request.app.state.store
    kept = of_grant(read_outcomes(body), request.state.grant, DEFAULT_PROJECT)
    now_ns = store.now_ns()
    refuse_future(kept, now_ns)
    gone = store.add_outcomes([(project, item.outcome(now_ns)) for project, item in kept])
    left = [(project, item) for project, item in kept if (project, item.run_id) not in gone]
    if gone:
        request.app.state.metrics.refused.labels("outcomes", "removed_run").inc(len(kept) - len(left))
    if not left:
        raise Refused(410, "the run was removed for good", FieldError("/run_id", "removed"))
    known = known_of(store, [(project, item.run_id) for project, item in kept])
    told = [
        {"run_id": item.run_id, "project": project, "result": item.result, "known": (project, item.run_id) in known}
        | ({"removed": True} if (project, item.run_id) in gone else {})
        for project, item in kept
    ]
    status = 200 if all(one["known"] or "removed" in one for one in told) else 202
    return StrictJSON({"accepted": len(left), "outcomes": told}, status_code=status)


async def bounded(request: Request) -> bytes:
    """The body, as JSON is to be sent and as far as it may be long. Raises Refused (415, 413)."""
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media != "application/json":
        raise Refused(415, "the body must be application/json", FieldError("Content-Type", "not application/json"))
    parts: list[bytes] = []
    length = 0
    async for part in request.stream():
        length += len(part)
        if length > MAX_BYTES:
            raise Refused(413, f"the body is larger than {MAX_BYTES} bytes")
        parts.append(part)
    return b"".join(parts)


def refuse_future(kept: Sequence[tuple[str, OutcomeIn]], now_ns: int) -> None:
    """A statement of next year would beat every later correction: the latest counts."""
    latest_ms = now_ns // MS_NS + DAY_MS
    late = [at for at, (_, item) in enumerate(kept) if item.time and (instant_ms(item.time) or 0) > latest_ms]
    if late:
        errors = [FieldError(f"/{at}/time" if len(kept) > 1 else "/time", "more than a day ahead") for at in late]
        raise Refused(422, "time lies more than a day ahead of this server's clock", *errors)


def known_of(store: Store, runs: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    """Which of the runs there are now."""
    return {(row["project"], row["run_id"]) for row in read(store, "known_runs", {"runs": list(runs)})}


def read_outcomes(body: bytes) -> list[OutcomeIn]:
    """The outcomes in a body: one object, or a list of them. Raises Refused naming each field at fault."""
    try:
        value: Any = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Refused(400, f"the body is not JSON: {error.msg} at byte {error.pos}") from None
    try:
        return MANY.validate_python(value) if isinstance(value, list) else [ONE.validate_python(value)]
    except ValidationError as error:
        found = error.errors(include_input=False, include_url=False)
        errors = [FieldError(pointer(item["loc"]) or "/", words(item)) for item in found]
        raise Refused(422, "; ".join(f"{e.field}: {e.detail}" for e in errors[:5]), *errors) from None


def of_grant(items: list[OutcomeIn], grant: Grant, default_project: str) -> list[tuple[str, OutcomeIn]]:
    """Each outcome with its project: the token's wins, and a statement for another one is refused, not moved."""
    if any(item.source == "human" for item in items):
        need(grant, "label")
    need(grant, "label", "ingest")
    if grant.project and any(item.project not in (None, grant.project) for item in items):
        raise Refused(403, "the token is for another project", FieldError("/project", "not the token's project"))
    return [(grant.project or item.project or default_project, item) for item in items]
