"""What a gate is asked: a policy, of which trials, at which moment."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from collector.config.keys import Count, GateConfig, GateWindow, Probability, Share
from collector.config.units import WholeSeconds
from collector.serve.parameters import MAX_K, Basis, Filters
from collector.serve.problems import FieldError, Refused

POLICY = ("task", "class_", "k", "min", "confidence", "window", "max_excluded", "max_age", "basis")
GateK = Annotated[Count, Field(le=MAX_K)]


class GateQuery(Filters):
    """`GET /api/v1/gate`: a named policy, or its parts."""

    name: str = ""
    by: Literal["", "class", "stream"] = ""
    k: GateK | None = None
    min: Probability | None = None
    confidence: Probability | None = None
    window: GateWindow | None = None
    max_excluded: Share | None = None
    max_age: WholeSeconds | None = None
    at: str = ""


def policy_of(query: GateQuery, named: dict[str, GateConfig]) -> GateConfig:
    """The policy asked for. Raises Refused when the name is unknown or parts stand beside it."""
    given = query.model_dump(exclude_unset=True)
    if not query.name:
        parts = {
            name: given[name]
            for name in ("k", "min", "confidence", "window", "max_excluded", "max_age")
            if name in given
        }
        return GateConfig(**parts, basis=_one_basis(query.basis))
    beside = [name for name in POLICY if name in given]
    if beside:
        raise Refused(
            400, "a named gate says all of its policy", *(FieldError(f"?{n.strip('_')}", "beside name") for n in beside)
        )
    if query.name not in named:
        known = ", ".join(sorted(named)) or "none"
        raise Refused(
            400, f"there is no gate of that name in `gates`; there is: {known}", FieldError("?name", "unknown")
        )
    return named[query.name]


def filters_of(query: GateQuery, policy: GateConfig, bound: dict[str, Any]) -> dict[str, Any]:
    """What trials are looked at: the filters of the request, those of a named policy where it has one.

    Never the basis: trials of the other one are told beside. Raises Refused where both name a value.
    """
    filters = {**bound, "basis": []}
    own = {"task": policy.task, "class": policy.class_, "project": policy.project, "environment": policy.environment,
           "service": policy.service, "service_version": policy.service_version, "agent": policy.agent,
           "model": policy.model}  # fmt: skip
    for field, value in own.items() if query.name else ():
        if value is None:
            continue
        if filters[field] and filters[field] != [value]:
            raise Refused(400, f"the gate is for another {field}", FieldError(f"?{field}", "not the policy's"))
        filters[field] = [value]
    return filters


def _one_basis(given: list[Basis]) -> Basis:
    if len(given) > 1:
        raise Refused(400, "a gate rests on one basis", FieldError("?basis", "given more than once"))
    return given[0] if given else "outcome"
