"""Each kind of check: a run that fails it, one that passes, one with nothing to judge, lost evidence, an open run."""

from __future__ import annotations

from typing import Any

import pytest

from graders import CheckSet, Verdict
from semconv.run import Run
from tests.graders.runs import Script


def verdict(check: dict[str, Any], run: Run, **more: Any) -> Verdict:
    (found,) = CheckSet.compile([{"id": "c", **check}], **more).grade(run)
    return found


def say(*texts: str) -> Script:
    """A run of calls written as `tool key=value …`, or `user …`, `agent …`; `?` cuts the input, `!` fails the call."""
    script = Script()
    for text in texts:
        word, _, rest = text.partition(" ")
        if word in ("user", "agent"):
            script.line("user" if word == "user" else "assistant", text=rest)
            continue
        arguments = dict(part.split("=", 1) for part in rest.split())
        fields: dict[str, Any] = {"status": "ok", "output": "done"}
        if word.endswith("?"):
            script.call(word[:-1], "{", input_state="truncated", **fields)
        elif word.endswith("!"):
            script.call(word[:-1], arguments, status="error", error="boom")
        else:
            script.call(word, arguments, **fields)
    return script


T = "call.tool == "
A, B, C = f"{T}'a'", f"{T}'b'", f"{T}'c'"
K1 = "call.input.k == '1'"

CASES: list[tuple[dict[str, Any], list[str], str, tuple[int, ...]]] = [
    # absence
    ({"kind": "absence", "of": A}, ["b", "a", "a"], "fail", (3, 5)),
    ({"kind": "absence", "of": A}, ["b"], "pass", ()),
    ({"kind": "absence", "of": A}, [], "pass", ()),
    ({"kind": "absence", "of": A, "among": B}, ["c"], "not_applicable", ()),
    ({"kind": "absence", "of": A, "among": B}, ["b", "a"], "fail", (3,)),
    ({"kind": "absence", "of": K1}, ["a?"], "unknown", (1,)),
    ({"kind": "absence", "of": K1}, ["a?", "a k=1"], "fail", (3,)),
    ({"kind": "absence", "of": f"{A} && {K1}"}, ["b?"], "pass", ()),  # the tool decides, not the lost input
    ({"kind": "absence", "of": K1}, ["a"], "pass", ()),  # no such argument: it does not match
    # existence
    ({"kind": "existence", "of": A}, ["b", "a"], "pass", (3,)),
    ({"kind": "existence", "of": A}, ["b"], "fail", ()),
    ({"kind": "existence", "of": A, "at_least": 2}, ["a"], "fail", (1,)),
    ({"kind": "existence", "of": A, "at_least": 2}, ["a", "a"], "pass", (1, 3)),
    ({"kind": "existence", "of": K1}, ["a?"], "unknown", (1,)),
    # bounded
    ({"kind": "bounded", "of": A, "at_most": 1}, ["a", "b", "a"], "fail", (1, 5)),
    ({"kind": "bounded", "of": A, "at_most": 1}, ["a", "b"], "pass", (1,)),
    ({"kind": "bounded", "of": A, "at_most": 1}, [], "pass", ()),
    ({"kind": "bounded", "of": A, "at_least": 1}, ["b"], "fail", ()),
    ({"kind": "bounded", "of": A, "at_most": 1, "per": "call.input.k"}, ["a k=1", "a k=2"], "pass", (1, 3)),
    ({"kind": "bounded", "of": A, "at_most": 1, "per": "call.input.k"}, ["a k=1", "a k=2", "a k=1"], "fail", (1, 5)),
    ({"kind": "bounded", "of": A, "at_most": 1, "per": "call.input.k"}, ["a k=1", "a?"], "unknown", (3,)),
    ({"kind": "bounded", "of": A, "at_most": 1, "per": "call.input.k"}, ["a", "a"], "fail", (1, 3)),
    ({"kind": "bounded", "of": K1, "at_most": 1}, ["a k=1", "a?"], "unknown", (3,)),
    ({"kind": "bounded", "of": K1, "at_most": 2}, ["a k=1", "a?"], "pass", (1,)),
    # repeats
    ({"kind": "repeats"}, ["a k=1", "a k=1", "a k=1"], "fail", (1, 3, 5)),
    ({"kind": "repeats"}, ["a k=1", "a k=1", "a k=2", "b k=1"], "pass", ()),
    ({"kind": "repeats"}, ["user hello"], "not_applicable", ()),
    ({"kind": "repeats", "at_most": 1, "of": A}, ["b", "b", "a"], "pass", ()),
    ({"kind": "repeats", "at_most": 1, "reset": B}, ["a", "b", "a"], "pass", ()),
    ({"kind": "repeats", "at_most": 1, "reset": B}, ["a", "a", "b"], "fail", (1, 3)),
    ({"kind": "repeats", "at_most": 1, "reset": B}, ["b", "b"], "fail", (1, 3)),  # its own repetition counts on
    ({"kind": "repeats", "at_most": 1}, ["a k=1", "a?"], "unknown", (1, 3)),
    ({"kind": "repeats", "at_most": 1}, ["a k=1", "b?"], "pass", ()),
    ({"kind": "repeats", "at_most": 1, "per": "call.turn"}, ["user x", "a", "user y", "a"], "pass", ()),
    ({"kind": "repeats", "at_most": 1, "per": "call.turn"}, ["user x", "a", "a"], "fail", (2, 4)),
    # loop
    ({"kind": "loop", "period": 2}, ["a", "b"] * 3, "fail", (1, 3, 5, 7, 9, 11)),
    ({"kind": "loop", "period": 2}, ["a", "b"] * 2, "pass", ()),
    ({"kind": "loop", "period": 2}, ["a k=1", "b", "a k=2", "b", "a k=3", "b"], "pass", ()),
    ({"kind": "loop", "period": 2}, ["a"] * 9, "pass", ()),  # a cycle of one: `repeats` is for that
    ({"kind": "loop", "period": 1}, ["a"] * 3, "fail", (1, 3, 5)),
    ({"kind": "loop", "period": [2, 3]}, ["a", "b", "c"] * 3, "fail", tuple(range(1, 18, 2))),
    ({"kind": "loop", "period": 2, "at_most": 1}, ["c", "a", "b", "a", "b", "c"], "fail", (3, 5, 7, 9)),
    ({"kind": "loop", "period": 2}, ["user x"], "not_applicable", ()),
    ({"kind": "loop", "period": 2}, ["a", "b", "a?", "b", "a", "b"], "unknown", (5,)),
    # response
    ({"kind": "response", "trigger": A, "response": B}, ["a", "b"], "pass", (1, 3)),
    ({"kind": "response", "trigger": A, "response": B}, ["b", "a"], "fail", (3,)),
    ({"kind": "response", "trigger": A, "response": B}, ["a", "b", "a"], "fail", (5,)),
    ({"kind": "response", "trigger": A, "response": B}, ["b"], "not_applicable", ()),
    ({"kind": "response", "trigger": K1, "response": B}, ["a?"], "unknown", (1,)),
    ({"kind": "response", "trigger": K1, "response": B}, ["a?", "b"], "not_applicable", ()),
    ({"kind": "response", "trigger": A, "response": K1}, ["a k=2", "b?"], "unknown", (1,)),
    ({"kind": "response", "trigger": A, "response": B, "same": "input.k"}, ["a k=1", "b k=1"], "pass", (1, 3)),
    ({"kind": "response", "trigger": A, "response": B, "same": "input.k"}, ["a k=1", "b k=2"], "fail", (1,)),
    ({"kind": "response", "trigger": A, "response": B, "same": "input.k"}, ["a k=1", "b?"], "unknown", (1,)),
    ({"kind": "response", "trigger": A, "response": B, "same": "input.k"}, ["a", "b"], "fail", (1,)),
    (
        {"kind": "response", "trigger": A, "response": B, "where": "int(response.input.k) > int(trigger.input.k)"},
        ["a k=1", "b k=1", "b k=2"],
        "pass",
        (1, 5),
    ),
    (
        {"kind": "response", "trigger": A, "response": B, "where": "int(response.input.k) > int(trigger.input.k)"},
        ["a k=2", "b k=1", "b k=2"],
        "fail",
        (1,),
    ),
    # precedence
    ({"kind": "precedence", "first": A, "then": B}, ["a", "b"], "pass", (1, 3)),
    ({"kind": "precedence", "first": A, "then": B}, ["b", "a"], "fail", (1,)),
    ({"kind": "precedence", "first": A, "then": B}, ["a", "b", "b"], "pass", (1, 3, 5)),
    ({"kind": "precedence", "first": A, "then": B}, ["a"], "not_applicable", ()),
    ({"kind": "precedence", "first": K1, "then": B}, ["a?", "b"], "unknown", (3,)),
    ({"kind": "precedence", "first": A, "then": B, "same": "input.k"}, ["a k=1", "b k=1", "b k=2"], "fail", (5,)),
    ({"kind": "precedence", "first": A, "then": B, "same": ["input.k", "tool"]}, ["a k=1", "b k=1"], "fail", (3,)),
    ({"kind": "precedence", "first": A, "then": B, "after": C}, ["a", "c", "b"], "fail", (5,)),
    ({"kind": "precedence", "first": A, "then": B, "after": C}, ["b", "c", "a", "b"], "pass", (5, 7)),
    # order
    ({"kind": "order", "tools": ["a", "b"]}, ["a", "c", "b"], "pass", (1, 5)),
    ({"kind": "order", "tools": ["a", "b"]}, ["b", "a"], "fail", (1, 3)),
    ({"kind": "order", "tools": ["a", "b"]}, ["b", "a", "b"], "fail", (1, 3)),  # first occurrences count
    ({"kind": "order", "tools": ["a", "b"]}, ["a"], "fail", (1,)),
    ({"kind": "order", "tools": ["a", "b", "a"]}, ["a", "b", "a"], "pass", (1, 3, 5)),
    ({"kind": "order", "tools": ["a", "b", "a"]}, ["a", "b"], "fail", (1, 3)),
    ({"kind": "order", "tools": ["a"]}, [], "fail", ()),
    ({"kind": "order", "steps": [A, "user_turn", B]}, ["a", "user go", "b"], "pass", (1, 3, 4)),
    ({"kind": "order", "steps": [K1, B]}, ["a?", "b"], "unknown", (1,)),
    # each
    ({"kind": "each", "of": A, "assert": K1}, ["a k=1", "a k=2", "b"], "fail", (3,)),
    ({"kind": "each", "of": A, "assert": K1}, ["a k=1", "b"], "pass", (1,)),
    ({"kind": "each", "of": A, "assert": K1}, ["b"], "not_applicable", ()),
    ({"kind": "each", "of": A, "assert": K1}, ["a?"], "unknown", (1,)),
    ({"kind": "each", "of": A, "assert": K1}, ["a?", "a k=2"], "fail", (3,)),
    ({"kind": "each", "of": A, "assert": K1}, ["a"], "fail", (1,)),  # the argument is missing: it does not hold
    ({"kind": "each", "of": A, "assert": "call.input.k > 100"}, ["a k=150"], "fail", (1,)),  # text is no number
    ({"kind": "each", "of": A, "assert": "int(call.input.k) > 100"}, ["a k=150"], "pass", (1,)),
    ({"kind": "each", "assert": "call.ok"}, ["a", "b!"], "fail", (3,)),
    # assert
    ({"kind": "assert", "assert": "run.final_text == 'done'"}, ["agent done"], "pass", ()),
    ({"kind": "assert", "assert": "run.final_text == 'done'"}, ["agent no"], "fail", ()),
    ({"kind": "assert", "assert": "run.counts.calls <= 1"}, ["a", "b"], "fail", ()),
    ({"kind": "assert", "assert": "run.counts.errors == 1"}, ["a!", "b"], "pass", ()),
    ({"kind": "assert", "assert": "run.calls.exists(c, c.tool == 'b')"}, ["a", "b"], "pass", ()),
    ({"kind": "assert", "assert": "run.calls.all(c, c.input.k == '1')"}, ["a k=1", "a"], "fail", ()),
    ({"kind": "assert", "assert": "run.calls.all(c, c.input.k == '1')"}, ["a k=1", "a?"], "unknown", ()),
    ({"kind": "assert", "assert": "run.calls.all(c, c.input.k == '1')"}, ["a k=2", "a?"], "fail", ()),
    ({"kind": "assert", "assert": "run.attributes.limit == 3"}, ["a"], "fail", ()),
    ({"kind": "assert", "assert": "edit && !test_run"}, ["Edit file_path=a.py"], "pass", ()),
    ({"kind": "assert", "assert": "edit && !test_run"}, ["a"], "fail", ()),
    ({"kind": "assert", "assert": "run.cost_usd < 1"}, ["a"], "unknown", ()),
    # budget
    ({"kind": "budget", "tool_calls": 1}, ["a", "b"], "fail", ()),
    ({"kind": "budget", "tool_calls": 2}, ["a", "b"], "pass", ()),
    ({"kind": "budget", "tool_calls": 2, "tokens": 100}, ["a"], "unknown", ()),
    ({"kind": "budget", "tool_calls": 1, "tokens": 100}, ["a", "b"], "fail", ()),
    # common keys
    ({"kind": "absence", "of": A, "when": "run.counts.calls > 3"}, ["a"], "not_applicable", ()),
    ({"kind": "absence", "of": A, "when": "run.counts.calls > 0"}, ["a"], "fail", (1,)),
    ({"kind": "absence", "of": A, "when": "run.calls.exists(c, c.input.k == '1')"}, ["a?"], "unknown", ()),
    ({"kind": "absence", "of": A, "after": B}, ["a", "b"], "pass", ()),
    ({"kind": "absence", "of": A, "after": B}, ["b", "a", "b"], "pass", ()),  # after the last b
    ({"kind": "absence", "of": A, "after": B}, ["b", "a"], "fail", (3,)),
    ({"kind": "absence", "of": A, "after": B}, ["a"], "not_applicable", ()),
    ({"kind": "absence", "of": A, "after": K1}, ["b?", "a k=2"], "unknown", ()),
    ({"kind": "absence", "of": A, "after": K1}, ["b k=1", "a k=2", "b?"], "unknown", (3,)),
    ({"kind": "absence", "of": A, "before": B}, ["b", "a"], "pass", ()),
    ({"kind": "absence", "of": A, "before": B}, ["a", "b"], "fail", (1,)),
    ({"kind": "absence", "of": A, "before": B}, ["a"], "fail", (1,)),  # it never came: everything is before it
    ({"kind": "absence", "of": A, "before": K1}, ["b?", "a k=2", "b k=1"], "unknown", (3,)),
    # turns are events
    ({"kind": "existence", "of": "user_turn"}, ["user hi"], "pass", (1,)),
    ({"kind": "absence", "of": "call.tool != 'a'"}, ["user hi", "agent ho", "a"], "pass", ()),  # no turn is a call
    ({"kind": "existence", "of": "user_turn && call.text.matches('(?i)yes')"}, ["user No", "user Yes"], "pass", (2,)),
    (
        {"kind": "precedence", "first": "user_turn && call.text == 'yes'", "then": A},
        ["user no", "a", "user yes", "a"],
        "fail",
        (2,),
    ),
    ({"kind": "existence", "of": "final_answer"}, ["a", "agent done"], "pass", (3,)),
    ({"kind": "existence", "of": "final_answer"}, ["agent I start", "a"], "fail", ()),
]


@pytest.mark.parametrize(("check", "texts", "status", "lines"), CASES)
def test_a_check_over_a_run(check: dict[str, Any], texts: list[str], status: str, lines: tuple[int, ...]) -> None:
    found = verdict(check, say(*texts).run())
    assert (found.status, found.lines) == (status, lines), found.reason
    assert found.reason.endswith(".")
    assert "\n" not in found.reason


@pytest.mark.parametrize(("check", "texts", "status", "lines"), CASES)
def test_on_an_open_run_it_fails_early_or_waits(
    check: dict[str, Any], texts: list[str], status: str, lines: tuple[int, ...]
) -> None:
    found = verdict(check, say(*texts).open())
    assert found.status in ("pending", "fail")
    if found.status == "fail":
        assert (status, found.lines) == ("fail", lines)


EARLY = [
    ({"kind": "absence", "of": A}, ["a"]),
    ({"kind": "absence", "of": "test_edit", "among": "edit"}, ["Edit file_path=tests/test_a.py"]),
    ({"kind": "bounded", "of": A, "at_most": 1}, ["a", "a"]),
    ({"kind": "bounded", "of": A, "at_most": 1, "per": "call.input.k"}, ["a k=1", "a k=1"]),
    ({"kind": "repeats", "at_most": 1}, ["a", "a"]),
    ({"kind": "each", "of": A, "assert": K1}, ["a k=2"]),
    ({"kind": "budget", "tool_calls": 1}, ["a", "b"]),
    ({"kind": "absence", "of": A, "when": "run.task_id == ''"}, ["a"]),
]
LATE = [
    ({"kind": "absence", "of": "call.turn > 1"}, ["user x", "user y", "a"]),  # a turn may still arrive in front
    ({"kind": "repeats", "at_most": 1, "reset": B}, ["a", "a"]),
    ({"kind": "response", "trigger": A, "response": B}, ["a"]),
    ({"kind": "precedence", "first": A, "then": B}, ["b"]),
    ({"kind": "order", "tools": ["a", "b"]}, ["b", "a"]),
    ({"kind": "existence", "of": A}, []),
    ({"kind": "loop", "period": 2, "at_most": 1}, ["a", "b", "a", "b"]),
    ({"kind": "absence", "of": A, "after": B}, ["b", "a"]),
    ({"kind": "absence", "of": A, "before": B}, ["a"]),
    ({"kind": "absence", "of": A, "scope": "top"}, ["a"]),
    ({"kind": "absence", "of": A, "when": "run.counts.calls > 0"}, ["a"]),
    ({"kind": "assert", "assert": "run.final_text == 'x'"}, ["agent y"]),
]


@pytest.mark.parametrize(("check", "texts"), EARLY)
def test_what_only_gets_worse_fails_early(check: dict[str, Any], texts: list[str]) -> None:
    assert verdict(check, say(*texts).open()).status == "fail"


@pytest.mark.parametrize(("check", "texts"), LATE)
def test_what_may_still_be_mended_waits(check: dict[str, Any], texts: list[str]) -> None:
    assert verdict(check, say(*texts).open()).status == "pending"
    assert verdict(check, say(*texts).run()).status == "fail"


@pytest.mark.parametrize(
    ("check", "texts", "status"),
    [
        ({"kind": "absence", "of": A}, ["b"], "unknown"),
        ({"kind": "absence", "of": A}, ["a"], "fail"),
        ({"kind": "existence", "of": A}, ["b"], "unknown"),
        ({"kind": "existence", "of": A}, ["a"], "pass"),
        ({"kind": "bounded", "of": A, "at_most": 1}, ["a"], "unknown"),
        ({"kind": "bounded", "of": A, "at_most": 1}, ["a", "a"], "fail"),
        ({"kind": "bounded", "of": A, "at_least": 1}, ["a"], "pass"),
        ({"kind": "repeats"}, ["a"], "unknown"),
        ({"kind": "loop"}, ["a"], "unknown"),
        ({"kind": "response", "trigger": A, "response": B}, ["a"], "unknown"),
        ({"kind": "response", "trigger": A, "response": B}, ["a", "b"], "pass"),
        ({"kind": "response", "trigger": A, "response": B}, ["c"], "unknown"),
        ({"kind": "precedence", "first": A, "then": B}, ["b"], "unknown"),
        ({"kind": "precedence", "first": A, "then": B}, ["a", "b"], "pass"),
        ({"kind": "order", "tools": ["a", "b"]}, ["a"], "unknown"),
        ({"kind": "order", "tools": ["a", "b"]}, ["b", "a"], "unknown"),
        ({"kind": "order", "tools": ["a", "b"]}, ["a", "b"], "pass"),
        ({"kind": "each", "of": A, "assert": K1}, ["a k=1"], "unknown"),
        ({"kind": "each", "of": A, "assert": K1}, ["a k=2"], "fail"),
        ({"kind": "assert", "assert": "run.counts.calls == 1"}, ["a"], "unknown"),
        ({"kind": "assert", "assert": "run.final_text == 'x'"}, ["agent x"], "pass"),
        ({"kind": "budget", "tool_calls": 5}, ["a"], "unknown"),
        ({"kind": "absence", "of": A, "among": B}, ["c"], "unknown"),
    ],
)
def test_where_spans_are_missing_absence_proves_nothing(check: dict[str, Any], texts: list[str], status: str) -> None:
    found = verdict(check, say(*texts).run(lossy=("missing_parent",)))
    assert found.status == status, found.reason


def test_a_cut_value_somewhere_else_makes_nothing_unknown() -> None:
    assert verdict({"kind": "absence", "of": A}, say("b?").run(lossy=("truncated",))).status == "pass"


def test_cut_messages_may_have_asked_for_anything() -> None:
    assert verdict({"kind": "absence", "of": A}, say("b?").run(lossy=("truncated_messages",))).status == "unknown"


def test_scope_top_leaves_out_what_nested_agents_do() -> None:
    run = Script().call("a", depth=1).call("b").run()
    assert verdict({"kind": "absence", "of": A, "scope": "top"}, run).status == "pass"
    assert verdict({"kind": "absence", "of": A}, run).status == "fail"


def test_steps_inside_one_command_line_are_in_order() -> None:
    push = "call.commands.exists(c, c.startsWith('git push'))"
    rule = {"kind": "precedence", "first": "test_run", "then": push}
    assert verdict(rule, Script().bash("pytest && git push", status="ok").run()).status == "pass"
    assert verdict(rule, Script().bash("git push && pytest", status="ok").run()).status == "fail"
    fresh = {"kind": "response", "trigger": "edit", "response": "test_run"}
    assert verdict(fresh, Script().bash("sed -i s/a/b/ a.py && pytest", status="ok").run()).status == "pass"
    assert verdict(fresh, Script().bash("pytest && sed -i s/a/b/ a.py", status="ok").run()).status == "fail"
    assert verdict(fresh, Script().bash("sed -i s/a/b/ a.py; pytest; sed -i s/b/a/ a.py").run()).status == "fail"


@pytest.mark.parametrize(
    ("read", "edited", "status"),
    [
        ("src/a.py", "src/a.py", "pass"),
        ("/srv/app/src/a.py", "src/a.py", "pass"),
        ("src/a.py", "/srv/app/src/a.py", "pass"),
        ("./src/../src/a.py", "src/a.py", "pass"),
        ("src/b.py", "src/a.py", "fail"),
        ("other/src/a.py", "src/a.py", "fail"),
        ("/srv/app/xsrc/a.py", "src/a.py", "fail"),
    ],
)
def test_the_same_path(read: str, edited: str, status: str) -> None:
    run = Script().call("Read", {"file_path": read}, "x").edit(edited, status="ok").run()
    assert verdict({"kind": "precedence", "first": "read", "then": "edit", "same": "path"}, run).status == status


def test_each_path_of_a_patch_needs_its_own_read() -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n*** Update File: b.py\n*** End Patch"
    rule = {"kind": "precedence", "first": "read", "then": "edit", "same": "path"}
    script = Script().call("Read", {"file_path": "a.py"}, "x").call("apply_patch", {"input": patch}, status="ok")
    assert verdict(rule, script.run()).status == "fail"
    script = Script().bash("cat a.py b.py", "x").call("apply_patch", {"input": patch}, status="ok")
    assert verdict(rule, script.run()).status == "pass"


@pytest.mark.parametrize(
    ("order", "status"), [("a b", "unknown"), ("b a", "unknown"), ("a b c", "unknown"), ("c a b", "fail")]
)
def test_calls_that_started_together_have_no_order(order: str, status: str) -> None:
    script = (
        Script().call("a", start_ns=10, end_ns=20).call("b", start_ns=10, end_ns=25).call("c", start_ns=30, end_ns=40)
    )
    assert verdict({"kind": "order", "tools": order.split()}, script.run()).status == status


def test_instants_and_calls_without_times_keep_the_order_they_are_numbered_in() -> None:
    for times in ({}, {"start_ns": 10}, {"start_ns": 10, "end_ns": 10}):
        script = Script().call("a", **times).call("b", **times)
        assert verdict({"kind": "order", "tools": ["a", "b"]}, script.run()).status == "pass"


def test_numbers_are_the_same_by_value_and_text_is_no_number() -> None:
    rule = {"kind": "repeats", "at_most": 1}
    for same in ((1, 1.0), ([1, {"a": 2}], [1.0, {"a": 2.0}])):
        run = Script().call("t", {"k": same[0]}).call("t", {"k": same[1]}).run()
        assert verdict(rule, run).status == "fail"
    for different in ((1, "1"), (1, True), (None, ""), ([1, 2], [2, 1])):
        run = Script().call("t", {"k": different[0]}).call("t", {"k": different[1]}).run()
        assert verdict(rule, run).status == "pass"


def test_an_expression_over_too_many_elements_is_an_error_of_the_check() -> None:
    script = Script()
    for at in range(120):
        script.call("a", {"k": at})
    found = verdict({"kind": "assert", "assert": "run.calls.all(c, run.calls.all(d, d.n > 0))"}, script.run())
    assert found.status == "error"
    assert found.reason.endswith("d.n > 0))' looks at more than 10,000 elements.")


def test_too_many_pairs_are_an_error_of_the_check_and_cost_no_other() -> None:
    script = Script()
    for at in range(700):
        script.call("a" if at % 2 == 0 else "b", {"k": at})
    checks = CheckSet.compile(
        [
            {
                "id": "dear",
                "kind": "response",
                "trigger": A,
                "response": B,
                "where": "response.input.k < trigger.input.k",
            },
            {"id": "cheap", "kind": "absence", "of": C},
        ]
    )
    dear, cheap = checks.grade(script.run())
    assert (dear.status, cheap.status) == ("error", "pass")
    assert "more than 50,000 pairs" in dear.reason
