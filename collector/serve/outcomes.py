"""`POST /api/v1/outcomes`: what somebody or something knows of the end state of runs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from collector.serve.access import Grant
from collector.serve.problems import FieldError, Refused, pointer
from collector.serve.times import LAST_MS, MS_NS, instant_ms
from semconv.outcome import Outcome, OutcomeResult

MAX_OUTCOMES = 1000
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


ONE = TypeAdapter(OutcomeIn)
MANY = TypeAdapter(Annotated[list[OutcomeIn], Field(min_length=1, max_length=MAX_OUTCOMES)])


def read_outcomes(body: bytes) -> list[OutcomeIn]:
    """The outcomes in a body: one object, or a list of them. Raises Refused naming each field at fault."""
    if len(body) > MAX_BYTES:
        raise Refused(413, f"the body is larger than {MAX_BYTES} bytes")
    try:
        value: Any = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Refused(400, f"the body is not JSON: {error.msg} at byte {error.pos}") from None
    try:
        return MANY.validate_python(value) if isinstance(value, list) else [ONE.validate_python(value)]
    except ValidationError as error:
        found = error.errors(include_input=False, include_url=False)
        errors = [FieldError(pointer(item["loc"]) or "/", str(item["msg"])) for item in found]
        raise Refused(422, "; ".join(f"{e.field}: {e.detail}" for e in errors[:5]), *errors) from None


def of_grant(items: list[OutcomeIn], grant: Grant, default_project: str) -> list[tuple[str, OutcomeIn]]:
    """Each outcome with its project: the token's wins, and a statement for another one is refused, not moved."""
    if any(item.source == "human" for item in items):
        grant.need("label")
    grant.need("label", "ingest")
    if grant.project and any(item.project not in (None, grant.project) for item in items):
        raise Refused(403, "the token is for another project", FieldError("/project", "not the token's project"))
    return [(grant.project or item.project or default_project, item) for item in items]
