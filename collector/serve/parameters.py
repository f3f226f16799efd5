"""The query parameters of the reading calls.

A parameter nobody knows is refused: a mistyped filter would widen the answer without a word.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from collector.serve.problems import FieldError, Refused
from collector.serve.times import Asked
from collector.tokens import Grant

Result = Literal["pass", "fail", "error", "invalid", "unknown", "incomplete", "pending"]
VerdictStatus = Literal["pass", "fail", "error", "unknown", "not_applicable", "pending"]
Basis = Literal["outcome", "trajectory"]
By = Literal["task", "class", "stream"]
Policy = Literal["exclude", "fail"]

MAX_K = 1000
MAX_KS = 32
MAX_LIMIT = 1000


def _ks(value: object) -> object:
    """`1,3,5` or `k=1&k=3`: the numbers, sorted, each once."""
    texts = (
        [part for item in value for part in str(item).split(",")] if isinstance(value, list) else str(value).split(",")
    )
    try:
        return sorted({int(text) for text in texts})
    except ValueError:
        raise ValueError("k is a list of whole numbers, for example 1,3,5") from None


def _in_range(ks: list[int]) -> list[int]:
    if not 1 <= len(ks) <= MAX_KS or ks[0] < 1 or ks[-1] > MAX_K:
        raise ValueError(f"k is 1 to {MAX_K}, at most {MAX_KS} of them")
    return ks


Ks = Annotated[list[int], BeforeValidator(_ks), AfterValidator(_in_range)]


class Filters(BaseModel):
    """What every reading call filters by; a parameter given twice means either value."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    project: list[str] = []
    environment: list[str] = []
    service: list[str] = []
    service_version: list[str] = []
    agent: list[str] = []
    model: list[str] = []
    task: list[str] = []
    class_: Annotated[list[str], Field(alias="class")] = []
    version: list[str] = []
    basis: list[Basis] = []

    def bound(self, grant: Grant) -> dict[str, Any]:
        """The filters as query parameters; a token of one project reads that project only."""
        projects = self.project
        if grant.project:
            if set(projects) - {grant.project}:
                raise Refused(
                    403, "the token is for another project", FieldError("?project", "not the token's project")
                )
            projects = [grant.project]
        return {
            "project": projects,
            "environment": self.environment,
            "service": self.service,
            "service_version": self.service_version,
            "agent": self.agent,
            "model": self.model,
            "task": self.task,
            "class": self.class_,
            "version": self.version,
            "basis": list(self.basis),
        }


class RunsQuery(Filters):
    """`GET /api/v1/runs`."""

    result: list[Result] = []
    prefix: Annotated[str, Field(max_length=4096)] = ""  # of the run's id
    window: str = ""
    since: str = ""
    until: str = ""
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = 100
    cursor: str = ""

    def asked(self) -> Asked:
        return Asked(window=self.window, since=self.since, until=self.until)


class VerdictsQuery(RunsQuery):
    """`GET /api/v1/verdicts`."""

    status: list[VerdictStatus] = ["pass", "fail", "error", "unknown", "not_applicable", "pending"]


class ReliabilityQuery(Filters):
    """`GET /api/v1/reliability`."""

    window: str = ""
    since: str = ""
    until: str = ""
    at: str = ""
    k: Ks = [1, 3, 5]
    by: By = "task"
    errors: Policy | None = None
    incomplete: Policy | None = None
    recent: Annotated[int, Field(ge=0, le=100)] = 0

    def asked(self) -> Asked:
        return Asked(window=self.window, since=self.since, until=self.until, at=self.at)
