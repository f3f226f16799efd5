"""Regression cases: a failed run becomes checks for its task."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from graders.errors import CheckError, did_you_mean
from graders.quoting import cel_text, cel_texts
from graders.verdict import Verdict
from semconv.run import Run

if TYPE_CHECKING:
    from graders.check import Check

_KEYS = (
    "id",
    "task",
    "input",
    "from_run",
    "from_result",
    "require_path",
    "forbid_tool",
    "expect_answer",
    "comment",
    "gate",
)


def checks_of_case(case: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The checks a case stands for: `case:<id>/require_path`, `/forbid_tool`, `/expect_answer`, for its task only."""
    name = str(case.get("id") or "")
    if not name or any(character.isspace() for character in name):
        raise CheckError("a case needs an id without blanks", key="id")
    for key in case:
        if key not in _KEYS:
            raise CheckError(f"unknown key{did_you_mean(str(key), _KEYS)}", check_id=f"case:{name}", key=str(key))
    task = case.get("task")
    if not isinstance(task, str) or not task:
        raise CheckError("a case needs its task", check_id=f"case:{name}", key="task")
    common = {"tasks": [_literal_glob(task)], "gate": bool(case.get("gate", False))}
    if case.get("comment"):
        common["description"] = str(case["comment"])
    checks: list[dict[str, Any]] = []
    path, forbidden, expected = _tools(case, "require_path"), _tools(case, "forbid_tool"), case.get("expect_answer")
    if path:
        checks.append({"id": f"case:{name}/require_path", "kind": "order", "tools": path, **common})
    if forbidden:
        of = f"call.tool in {cel_texts(forbidden)} || call.tool_raw in {cel_texts(forbidden)}"
        checks.append({"id": f"case:{name}/forbid_tool", "kind": "absence", "of": of, **common})
    if expected not in (None, ""):
        says = f"run.final_text.matches({cel_text(answer_pattern(expected))})"
        check = {"id": f"case:{name}/expect_answer", "kind": "assert", "assert": says, "axis": "outcome", **common}
        checks.append(check)
    return checks


def answer_pattern(expected: object) -> str:
    """A pattern for an answer that stands by itself in a text: 32 is in "it is 32.", not in "132" or "32.5"."""
    text = str(expected)
    if isinstance(expected, bool):
        text = text.lower()
    before = r"(?:^|[^\pL\pN_.,\-]|[^\pN][.,]|\s-)" if text[:1].isalnum() else ""
    after = r"(?:$|[^\pL\pN_.,]|[.,](?:$|[^\pN]))" if text[-1:].isalnum() else ""
    return f"(?is){before}{_escape(text)}{after}"


def _escape(text: str) -> str:
    return re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", text)


def _literal_glob(task: str) -> str:
    return re.sub(r"([*?\[])", r"[\1]", task)


def _tools(case: Mapping[str, Any], key: str) -> list[str]:
    value = case.get(key) or []
    tools = [value] if isinstance(value, str) else value
    if not isinstance(tools, Sequence) or not all(isinstance(tool, str) and tool for tool in tools):
        raise CheckError("must be a list of tool names", check_id=f"case:{case.get('id')}", key=key)
    return list(dict.fromkeys(tools)) if key == "forbid_tool" else list(tools)


class Mined(Struct, frozen=True):
    """A regression case as `cases/<id>.yaml` holds it; what is not known is empty."""

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


def mine(
    run: Run, checks: Iterable[Check], verdicts: Sequence[Verdict], *, result: str = "", expect: str = ""
) -> Mined:
    """The case a run makes. Nothing is guessed.

    The path is that of the task's `order` check over tools, forbidden are the tools of calls that failed an `each`
    check and are not on it, the answer is `expect`, else what the harness said was expected.
    """
    orders = [check for check in checks if check.kind == "order" and check.tools]
    path = next((check.tools for check in orders if check.applies_to(run.task_id, run.task_class)), ())
    failed = {
        line for verdict in verdicts if verdict.kind == "each" and verdict.status == "fail" for line in verdict.lines
    }
    bad = [line.tool for line in run.lines if line.n in failed and line.tool and line.tool not in path]
    return Mined(
        id=re.sub(r"[^A-Za-z0-9._-]+", "-", f"{run.task_id}-{run.run_id}").strip("-.")[:100] or "case",
        task=run.task_id,
        input=next((line.text for line in run.lines if line.role == "user" and line.text), ""),
        from_run=run.run_id,
        from_result=result,
        require_path=path,
        forbid_tool=tuple(dict.fromkeys(bad)),
        expect_answer=expect or run.expected,
    )
