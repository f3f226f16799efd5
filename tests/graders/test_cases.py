"""Regression cases: what a run becomes, and what a case checks."""

from __future__ import annotations

from typing import Any

import pytest

from graders import CheckSet
from graders.cases import checks_of_case, mine
from semconv.run import Run
from tests.graders.runs import Script

TASK = "the temperature in Paris plus 10"
LAB = CheckSet.compile(
    [
        {"id": "path", "kind": "order", "tools": ["weather", "calculator"], "tasks": [TASK], "gate": True},
        {"id": "calls", "kind": "each", "assert": "call.tool in ['weather', 'calculator']", "tasks": [TASK]},
    ]
)


def run_d(**fields: Any) -> Run:
    script = Script().user(TASK).call("search", {"q": "paris temp"}).call("weather", {"city": "Paris"}).says("15")
    return script.run(run_id="D", task_id=TASK, **fields)


def test_the_labs_case_is_mined() -> None:
    run = run_d(expected="32")
    case = mine(run, LAB.checks, LAB.grade(run), result="fail")
    assert (case.task, case.from_run, case.from_result, case.input) == (TASK, "D", "fail", TASK)
    assert (case.require_path, case.forbid_tool, case.expect_answer) == (("weather", "calculator"), ("search",), "32")
    assert case.id == "the-temperature-in-Paris-plus-10-D"
    assert not case.gate


def test_what_is_not_known_stays_empty() -> None:
    run = run_d()
    case = mine(run, (), ())
    assert (case.require_path, case.forbid_tool, case.expect_answer) == ((), (), "")
    assert mine(run, (), (), expect="32").expect_answer == "32"
    other = CheckSet.compile([{"id": "o", "kind": "order", "tools": ["a"], "tasks": ["another"]}])
    assert mine(run, other.checks, other.grade(run)).require_path == ()


def test_a_tool_on_the_path_is_not_forbidden() -> None:
    checks = CheckSet.compile(
        [
            {"id": "path", "kind": "order", "tools": ["weather"]},
            {"id": "calls", "kind": "each", "assert": "call.tool == 'never'"},
        ]
    )
    run = run_d()
    assert mine(run, checks.checks, checks.grade(run)).forbid_tool == ("search",)


def test_a_mined_case_fails_its_run_and_names_the_lines() -> None:
    run = run_d(expected="32")
    case = mine(run, LAB.checks, LAB.grade(run))
    written = {name: getattr(case, name) for name in case.__struct_fields__}
    written["require_path"] = list(case.require_path)
    written["forbid_tool"] = list(case.forbid_tool)
    checks = CheckSet.compile([], cases=[written])
    found = {verdict.check_id.rsplit("/", 1)[1]: verdict for verdict in checks.grade(run)}
    assert {name: verdict.status for name, verdict in found.items()} == {
        "require_path": "fail",
        "forbid_tool": "fail",
        "expect_answer": "fail",
    }
    assert found["forbid_tool"].lines == (2,)
    assert found["expect_answer"].axis == "outcome"
    good = Script().user(TASK).call("weather").call("calculator").says("It is 32.").run(task_id=TASK)
    assert {verdict.status for verdict in checks.grade(good)} == {"pass"}
    assert checks.grade(Script().run(task_id="another task")) == []


def test_a_task_is_a_name_and_no_glob() -> None:
    (check,) = checks_of_case({"id": "c", "task": "fix [a] *", "forbid_tool": "rm"})
    checks = CheckSet.compile([check])
    assert len(checks.grade(Script().run(task_id="fix [a] *"))) == 1
    assert checks.grade(Script().run(task_id="fix a b")) == []


@pytest.mark.parametrize(
    ("expected", "text", "matches"),
    [
        (32, "32", True), (32, "The answer is 32.", True), (32, "It is 32, not 31", True), (32, "**32**", True),
        (32, "$32", True), (32, "=32", True), (32, "(32)", True), (32, "a\n32\nb", True), (32, "32!", True),
        (32, "132", False), (32, "321", False), (32, "32.5", False), (32, "1.32", False), (32, "32,000", False),
        (32, "1,032", False), (32, "-32", False), (32, "x32", False), (32, "23", False), (32, "", False),
        (12.5, "12.5 EUR", True), (12.5, "112.5", False), (12.5, "12x5", False), (-3, "it is -3", True),
        ("Paris", "It is in paris.", True), ("Paris", "Parisian", False), ("Paris", "Not there", False),
        ("done (ok)", "all done (ok) now", True), (True, "true", True), ("it's", "yes, it's", True),
        ("C:\\tmp", "at C:\\tmp now", True), ("Zoë", "Zoë.", True), ("Zo", "Zoë", False),
    ],
)  # fmt: skip
def test_an_answer_stands_by_itself(expected: Any, text: str, matches: bool) -> None:
    checks = CheckSet.compile([], cases=[{"id": "c", "task": "t", "expect_answer": expected}])
    (found,) = checks.grade(Script().says(text).run(task_id="t"))
    assert (found.status == "pass") is matches


def test_a_case_gates_only_when_it_says_so() -> None:
    case = {"id": "c", "task": "t", "require_path": ["a"], "expect_answer": "x"}
    run = Script().says("y").run(task_id="t")
    shown, gating = CheckSet.compile([], cases=[case]), CheckSet.compile([], cases=[case | {"gate": True}])
    assert not any(verdict.gate for verdict in shown.grade(run))
    assert all(verdict.gate for verdict in gating.grade(run))
    assert shown.version_for(run) == CheckSet.compile([]).version_for(run)
    assert gating.version_for(run) != shown.version_for(run)


def test_cases_stand_beside_the_default_checks() -> None:
    checks = CheckSet.compile(cases=[{"id": "c", "task": "t", "forbid_tool": ["rm"]}])
    assert [check.id for check in checks.checks][:3] == ["tests-after-last-edit", "no-test-edits", "no-repeats"]
    assert checks.checks[-1].id == "case:c/forbid_tool"
