"""`POST /api/v1/cases`: a run in the wild becomes a regression case. What is not known stays empty."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Request
from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field

from collector.serve.access import need
from collector.serve.strict import StrictJSON
from collector.tokens import Grant

router = APIRouter()


class Case(Struct, frozen=True):
    """A regression case as `cases/<id>.yaml` holds it (CONTRACT.md section 6)."""

    id: str
    task: str
    input: str
    from_run: str
    from_result: str
    require_path: tuple[str, ...] = ()
    forbid_tool: tuple[str, ...] = ()
    expect_answer: str = ""
    comment: str = ""
    gate: bool = False


class CaseIn(BaseModel):
    """Which run, and what is known beyond it."""

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)

    run_id: Annotated[str, Field(min_length=1)]
    project: str | None = None
    expect: str | None = None
    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")] | None = None


@router.post("/api/v1/cases", summary="The regression case a run makes; nothing is written")
def cases(request: Request, asked: CaseIn) -> StrictJSON:
    """The regression case of a run, as `passhat mine` writes it."""
    from collector.serve.runs import told_of

    grant: Grant = request.state.grant
    need(grant, "read")
    told = told_of(request.app.state.store, asked.run_id, {"project": projects(grant, asked.project)})
    case = mine(told, request.app.state.definitions, expect=asked.expect, case_id=asked.id)
    return StrictJSON(as_dict(case))


def projects(grant: Grant, project: str | None) -> list[str]:
    return [grant.project] if grant.project else [project] if project else []


def mine(
    told: dict[str, Any], checks: Sequence[dict[str, Any]], *, expect: str | None = None, case_id: str | None = None
) -> Case:
    """The case of a run as the API tells it: `told` has run, lines and verdicts, `checks` are their definitions.

    The path comes from the task's `order` check, the tools to forbid from calls that failed an `each` check and
    are not on that path, the answer from `expect`, else from what the harness said was expected.
    """
    run, lines, verdicts = told["run"], told["lines"], told["verdicts"]
    path = required_path(verdicts, checks)
    return Case(
        id=case_id or slug(f"{run['task_id']}-{run['run_id']}"),
        task=run["task_id"],
        input=next((line["text"] for line in lines if line["role"] == "user" and line.get("text")), ""),
        from_run=run["run_id"],
        from_result=run["result"],
        require_path=path,
        forbid_tool=bad_tools(lines, verdicts, path),
        expect_answer=run.get("expected") or "" if expect is None else expect,
    )


def required_path(verdicts: Sequence[dict[str, Any]], checks: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """The tools of the run's one `order` check; () when there is none, several, or it is not told in tools."""
    asked = {verdict["check_id"] for verdict in verdicts if verdict["kind"] == "order"}
    paths = [tuple(check["tools"]) for check in checks if check.get("id") in asked and check.get("tools")]
    return paths[0] if len(paths) == 1 else ()


def bad_tools(
    lines: Sequence[dict[str, Any]], verdicts: Sequence[dict[str, Any]], path: Sequence[str]
) -> tuple[str, ...]:
    """The tools of calls that failed on their own and that the path does not need, in the order of the run."""
    bad = {
        n for verdict in verdicts if verdict["kind"] == "each" and verdict["status"] == "fail" for n in verdict["lines"]
    }
    tools = [line["tool"] for line in lines if line["n"] in bad and line.get("tool")]
    return tuple(dict.fromkeys(tool for tool in tools if tool not in path))


def slug(text: str) -> str:
    """A file name: letters, digits and dashes, at most 80."""
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-")[:80].strip("-") or "case"


def as_dict(case: Case) -> dict[str, Any]:
    """The case as plain lists and texts, keys in the order of the contract."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in ((name, getattr(case, name)) for name in case.__struct_fields__)
    }
