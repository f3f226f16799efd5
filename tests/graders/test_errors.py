"""What is wrong with a check is said at start, with the check, the key and the position."""

from __future__ import annotations

from typing import Any

import pytest

from graders import CheckError, CheckSet

OK = {"id": "x", "kind": "absence", "of": "edit"}

ROWS: list[tuple[dict[str, Any], str]] = [
    ({"kind": "absence", "of": "edit"}, "id: a check has no id"),
    ({"id": "a b", "kind": "absence"}, "check 'a b', id: an id has no blanks and at most 200 characters"),
    ({"id": "x"}, "check 'x', kind: is missing"),
    ({"id": "x", "kind": "absense"}, "check 'x', kind: there is no kind 'absense'; did you mean 'absence'?"),
    ({"id": "x", "kind": "absence"}, "check 'x', of: is missing"),
    (OK | {"amnog": "edit"}, "check 'x', amnog: unknown key; did you mean 'among'?"),
    (OK | {"at_most": 3}, "check 'x', at_most: unknown key"),
    (OK | {"gate": "yes"}, "check 'x', gate: must be true or false, not 'yes'"),
    (
        OK | {"axis": "call"},
        "check 'x', axis: must be one of trajectory, calls, outcome, not 'call'; did you mean 'calls'?",
    ),
    (OK | {"scope": "root"}, "check 'x', scope: must be one of all, top, not 'root'"),
    (OK | {"on_fail": "unknown"}, "check 'x', on_fail: must be one of fail, invalid, error, not 'unknown'"),
    (OK | {"tasks": 3}, "check 'x', tasks: must be a list of texts"),
    (
        OK | {"of": "call.toool == 'x'"},
        "check 'x', of (line 1, column 5): a call has no field 'toool'; did you mean 'tool'?",
    ),
    (
        OK | {"of": "call.ok &&\n  call.inputt.a == 1"},
        "check 'x', of (line 2, column 7): a call has no field 'inputt'; did you mean 'input'?",
    ),
    (OK | {"of": "edti"}, "check 'x', of (line 1, column 1): nothing is called 'edti' here; did you mean 'edit'?"),
    (OK | {"of": "call.tool"}, "check 'x', of: must be true or false, but 'call.tool' is string"),
    (OK | {"of": 3}, "check 'x', of: an expression is missing here"),
    (OK | {"of": ""}, "check 'x', of: an expression is missing here"),
    (
        OK | {"of": "call.command.matches('(?!x)')"},
        "check 'x', of (line 1, column 22): invalid regular expression: invalid perl operator: (?!",
    ),
    (
        OK | {"of": "run.calls.size() > 0"},
        "check 'x', of (line 1, column 1): nothing is called 'run' here",
    ),
    (
        OK | {"when": "run.task == 'x'"},
        "check 'x', when (line 1, column 4): a run has no field 'task'; did you mean 'task_id'?",
    ),
    (
        {"id": "x", "kind": "assert", "assert": "run.calls.exists(c, c.comand == 'x')"},
        "check 'x', assert (line 1, column 22): a call has no field 'comand'; did you mean 'command'?",
    ),
    (
        {"id": "x", "kind": "precedence", "first": "read", "then": "edit", "where": "first.pth == then.path"},
        "check 'x', where (line 1, column 6): a call has no field 'pth'; did you mean 'path'?",
    ),
    (
        {"id": "x", "kind": "precedence", "first": "read", "then": "edit", "where": "trigger.path == ''"},
        "check 'x', where (line 1, column 1): nothing is called 'trigger' here",
    ),
    (
        {"id": "x", "kind": "precedence", "first": "read", "then": "edit", "same": "args.id"},
        "check 'x', same: 'args.id' is neither path, tool, agent nor input.<field>",
    ),
    ({"id": "x", "kind": "bounded", "of": "edit"}, "check 'x', at_most: at_most or at_least is missing"),
    (
        {"id": "x", "kind": "bounded", "of": "edit", "at_most": 1, "at_least": 2},
        "check 'x', at_least: is more than at_most: nothing can hold",
    ),
    (
        {"id": "x", "kind": "repeats", "at_most": "2"},
        "check 'x', at_most: must be a whole number, 1 or more, not '2'",
    ),
    (
        {"id": "x", "kind": "repeats", "at_most": True},
        "check 'x', at_most: must be a whole number, 1 or more, not True",
    ),
    ({"id": "x", "kind": "loop", "period": 0}, "check 'x', period: must be a number of calls from 1 to 100, not 0"),
    ({"id": "x", "kind": "order"}, "check 'x', steps: either steps or tools must be given"),
    ({"id": "x", "kind": "order", "tools": []}, "check 'x', tools: must be a list with at least one entry"),
    (
        {"id": "x", "kind": "order", "tools": ["a"], "steps": ["edit"]},
        "check 'x', steps: either steps or tools must be given",
    ),
    ({"id": "x", "kind": "each", "of": "edit"}, "check 'x', assert: either assert or schema must be given"),
    (
        {"id": "x", "kind": "budget"},
        "check 'x', tool_calls: one of tool_calls, turns, tokens, input_tokens, output_tokens, cost_usd, "
        "seconds must be given",
    ),
    ({"id": "x", "kind": "budget", "tokens": "1k"}, "check 'x', tokens: must be a number, 0 or more, not '1k'"),
    ({"id": "x", "kind": "python"}, "check 'x', function: must be module:name"),
    ({"id": "x", "kind": "command"}, "check 'x', command: is missing"),
    ({"id": "x", "kind": "command", "command": "a", "timeout_s": 0}, "check 'x', timeout_s: must be more than 0"),
    (
        {"id": "x", "use": "force-psuh"},
        "check 'x', use: the library has no check 'force-psuh'; did you mean 'force-push'?",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("check", "problem"), ROWS)
def test_a_check_is_refused(check: dict[str, Any], problem: str) -> None:
    with pytest.raises(CheckError) as caught:
        CheckSet.compile([check])
    assert str(caught.value) == problem


def test_the_place_is_there_for_programs_too() -> None:
    with pytest.raises(CheckError) as caught:
        CheckSet.compile([OK | {"of": "call.ok &&\n  call.inputt.a == 1"}])
    error = caught.value
    assert (error.check_id, error.key, error.line, error.column) == ("x", "of", 2, 7)


def test_two_checks_of_one_id_are_refused() -> None:
    with pytest.raises(CheckError, match="check 'x', id: there are two checks of this id"):
        CheckSet.compile([OK, OK])


@pytest.mark.parametrize(
    ("tags", "problem"),
    [
        ({"Deploy": "call.ok"}, "tags.Deploy: a tag is named with a-z, 0-9 and _, a letter first"),
        ({"a-b": "call.ok"}, "tags.a-b: a tag is named with a-z, 0-9 and _, a letter first"),
        ({"edit": "call.ok"}, "tags.edit: 'edit' is built in; `actions` says what else counts as one"),
        ({"call": "call.ok"}, "tags.call: 'call' has another meaning in expressions"),
        ({"x": "call.nope"}, "tags.x (line 1, column 5): a call has no field 'nope'"),
        ({"x": "y", "y": "x"}, "tags.x: uses itself: x → y → x"),
        ({"x": "call.tool"}, "tags.x: must be true or false, but 'call.tool' is string"),
    ],
)
def test_a_tag_is_refused(tags: dict[str, str], problem: str) -> None:
    with pytest.raises(CheckError) as caught:
        CheckSet.compile([OK], tags)
    assert str(caught.value) == problem


@pytest.mark.parametrize(
    ("case", "problem"),
    [
        ({"task": "t"}, "id: a case needs an id without blanks"),
        ({"id": "c"}, "check 'case:c', task: a case needs its task"),
        ({"id": "c", "task": "t", "forbid": ["x"]}, "check 'case:c', forbid: unknown key; did you mean 'forbid_tool'?"),
        ({"id": "c", "task": "t", "require_path": [3]}, "check 'case:c', require_path: must be a list of tool names"),
    ],
)
def test_a_case_is_refused(case: dict[str, Any], problem: str) -> None:
    with pytest.raises(CheckError) as caught:
        CheckSet.compile([OK], cases=[case])
    assert str(caught.value) == problem
