"""Checks in Python and in other languages: what is asked, what may be answered."""

from __future__ import annotations

import json
from typing import Any

import pytest

from graders import CheckSet, Run, Verdict, check
from graders.checks.external import External, answer, request_of
from graders.python_checks import checks_in
from tests.graders.runs import Script

RUN = Script().user("hi").call("search", {"q": "x"}, "found").run(task_id="t")


def said(reply: Any) -> Verdict:
    @check(id="mine", gate=True, timeout_s=2)
    def mine(run: Run) -> Any:
        return reply

    (found,) = CheckSet.compile(checks_in({"mine": mine})).grade(RUN)
    return found


@pytest.mark.parametrize(
    ("reply", "status", "reason", "lines"),
    [
        (True, "pass", "The check holds.", ()),
        (False, "fail", "The check does not hold.", ()),
        ("not_applicable", "not_applicable", "", ()),
        (("fail", "Too many."), "fail", "Too many.", ()),
        (("fail", "Too\nmany.", [3, 2, 3]), "fail", "Too many.", (2, 3)),
        ((True, "Fine.", [2]), "pass", "Fine.", (2,)),
        ({"status": "unknown", "reason": "Cut."}, "unknown", "Cut.", ()),
        (Verdict("x", "python", "fail", "Because.", (2,)), "fail", "Because.", (2,)),
        (None, "error", "The check broke: it answered NoneType, not a status.", ()),
        ("failed", "error", None, ()),
        ({"status": "fail", "lines": ["2"]}, "error", "The check broke: its lines are no list of numbers.", ()),
        (Verdict("x", "python", "pending", ""), "error", "The check broke: it said 'pending'.", ()),
    ],
)
def test_what_a_function_may_answer(reply: Any, status: str, reason: str | None, lines: tuple[int, ...]) -> None:
    found = said(reply)
    assert (found.status, found.lines) == (status, lines)
    assert reason is None or found.reason == reason
    assert (found.check_id, found.kind, found.gate) == ("mine", "python", True)


def test_what_a_function_raises_is_the_checks_own_error() -> None:
    @check(id="broken")
    def broken(run: Run) -> bool:
        raise KeyError("no such\nkey")

    (found,) = CheckSet.compile(checks_in({"broken": broken})).grade(RUN)
    assert (found.status, found.reason) == ("error", "The check broke: KeyError: 'no such\\nkey'.")


def test_a_function_without_a_runner_that_only_has_a_name_is_an_error() -> None:
    (found,) = CheckSet.compile([{"id": "x", "kind": "python", "function": "m:f"}]).grade(RUN)
    assert (found.status, found.reason) == ("error", "The check broke: nothing here can run it.")


def test_the_request_is_one_line_of_json_with_the_whole_run() -> None:
    request = request_of("mine", RUN)
    assert b"\n" not in request
    told = json.loads(request)
    assert (told["protocol"], told["check"]) == (1, "mine")
    assert told["run"]["task_id"] == "t"
    assert told["run"]["lines"][1] == {"n": 2, "role": "assistant", "tool": "search", "input": {"q": "x"}}


def test_a_function_behind_the_protocol_sees_the_same_run() -> None:
    seen: list[Run] = []

    def function(run: Run) -> tuple[str, str, list[int]]:
        seen.append(run)
        return "fail", "No.", [2]

    reply = answer(request_of("mine", RUN), function)
    assert seen == [RUN]
    assert json.loads(reply) == {"status": "fail", "reason": "No.", "lines": [2]}


def test_the_runner_is_asked_for_programs_and_functions() -> None:
    asked: list[External] = []

    def runner(external: External, request: bytes) -> bytes:
        asked.append(external)
        assert json.loads(request)["check"] == external.id
        return b'{"status": "fail", "reason": "No.", "lines": [2]}'

    checks = CheckSet.compile(
        [
            {"id": "p", "kind": "command", "command": ["judge", "--strict"], "timeout_s": 3},
            {"id": "t", "kind": "command", "command": "judge --strict"},
            {"id": "f", "kind": "python", "function": "m:f", "axis": "outcome"},
        ]
    )
    found = checks.grade(RUN, runner=runner)
    assert [verdict.status for verdict in found] == ["fail"] * 3
    assert [one.command for one in asked] == [("judge", "--strict")] * 2 + [()]
    assert (asked[0].timeout_s, asked[2].function) == (3, "m:f")


@pytest.mark.parametrize("reply", [b"", b"not json", b"[]", b'{"status": "maybe"}', b"\xff"])
def test_a_reply_that_is_none_is_an_error(reply: bytes) -> None:
    checks = CheckSet.compile([{"id": "p", "kind": "command", "command": "judge"}])
    assert checks.grade(RUN, runner=lambda external, request: reply)[0].status == "error"


def test_nothing_is_run_while_the_run_is_open() -> None:
    def runner(external: External, request: bytes) -> bytes:
        raise AssertionError("asked too early")

    checks = CheckSet.compile([{"id": "p", "kind": "command", "command": "judge"}])
    assert checks.grade(Script().user("x").open(), runner=runner)[0].status == "pending"


def test_when_and_among_hold_for_own_checks_too() -> None:
    def runner(external: External, request: bytes) -> bytes:
        raise AssertionError("there is nothing to ask")

    common = {"kind": "command", "command": "judge"}
    checks = CheckSet.compile(
        [{"id": "w", "when": "run.task_id == 'u'", **common}, {"id": "a", "among": "edit", **common}]
    )
    assert [found.status for found in checks.grade(RUN, runner=runner)] == ["not_applicable"] * 2
