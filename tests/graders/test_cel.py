"""Expressions: three-valued answers, and the short way gives the long way's answer."""

from __future__ import annotations

from typing import Any

import pytest

from graders.actions import ActionTable
from graders.call import Call
from graders.cel import Compiler, Failure
from graders.predicate import CelPredicate, FieldIs, Tags
from graders.trace import Trace
from tests.graders.runs import Script

COMPILER = Compiler(["edit"])
TAGS = Tags({"risky": "call.input.amount > 100", "big": "risky && call.tool == 'refund'"})


def events() -> list[Call]:
    script = Script().user("hi").says("ho")
    script.call("refund", {"amount": 150}, "ok", status="ok").call("refund", {"amount": "150"})
    script.call("search", {}, status="error", error="boom").call("Edit", {"file_path": "a.py"}, "x")
    script.call("refund", "{", input_state="truncated")
    return Trace(script.run(), ActionTable()).events


def call_of(**fields: Any) -> Any:
    return {"call": fields}


@pytest.mark.parametrize(
    ("source", "data", "value"),
    [
        ("call.input.n > 3", call_of(input={"n": 4}), True),
        ("call.input.n > 3", call_of(input={"n": 2**70}), True),
        ("call.input.n > 3", call_of(input={"n": -(2**70)}), False),
        ("call.input.n > 3", call_of(input={"n": float("nan")}), False),
        ("call.input.s == 'x'", call_of(input={"s": "\ud800"}), False),
        ("call.input.l.size() == 2", call_of(input={"l": (1, 2)}), True),
        ("call.input.n == null", call_of(input={"n": None}), True),
        ("call.tool.lowerAscii() == 'bash'", call_of(tool="BASH"), True),
        ("math.greatest(call.input.a, call.input.b) == 3", call_of(input={"a": 1, "b": 3}), True),
        ("cel.bind(t, call.tool, t == 'x' || t == 'y')", call_of(tool="y"), True),
        ("call.tool == 'x' || call.input.n == 1", call_of(tool="x"), True),  # the other side decides
        ("call.tool == 'x' && call.input.n == 1", call_of(tool="y"), False),
    ],
)
def test_values(source: str, data: Any, value: bool) -> None:
    assert COMPILER.predicate(source).value(data) is value


@pytest.mark.parametrize(
    ("source", "data", "why"),
    [
        ("call.input.zz == 1", call_of(input={}), "there is no 'zz'"),
        ("call.input.s > 100", call_of(input={"s": "150"}), "> does not apply to string, int"),
        ("call.input.n > 1 && call.tool == 'x'", call_of(input={}, tool="x"), "there is no 'n'"),
        ("edit && call.tool == 'x'", call_of(tool="x"), 'No value with name "edit" found in Activation'),
        ("call.input.a / call.input.b == 1", call_of(input={"a": 1, "b": 0}), "divide by zero"),
        (
            "call.tool.matches(call.input.p)",
            call_of(tool="x", input={"p": "("}),
            "invalid regular expression: missing ): (",
        ),
    ],
)
def test_failures_are_no_truth(source: str, data: Any, why: str) -> None:
    found = COMPILER.predicate(source).value(data)
    assert isinstance(found, Failure)
    assert found.why == why


@pytest.mark.parametrize(
    ("source", "names", "fields"),
    [
        ("call.tool == 'call.input' && edit", {"call", "edit"}, {"tool"}),
        ("call.input.a.b == 'x' // call.server", {"call"}, {"input", "a", "b"}),
        ('call.tool == "a\\"b" || call.path == r"\\d"', {"call"}, {"tool", "path"}),
        ("call.commands.exists(c, c.startsWith('x'))", {"call", "c"}, {"commands", "exists", "startsWith"}),
    ],
)
def test_what_an_expression_reads(source: str, names: set[str], fields: set[str]) -> None:
    assert (COMPILER.names_in(source), COMPILER.fields_in(source)) == (names, fields)


@pytest.mark.parametrize(
    "source",
    ["call.tool == 'refund'", "call.tool != 'refund'", "call.error != ''", "call.status == 'ok'", "call.ok", "!call.ok",
     "call.redacted", "call.path == 'a.py'", "call.command == ''", "call.input_text == '{'"],
)  # fmt: skip
def test_the_short_way_is_the_long_way(source: str) -> None:
    short = FieldIs.read(source)
    long = CelPredicate(TAGS.compiler.predicate(source), TAGS)
    assert short is not None
    assert [short.match(event) for event in events()] == [long.match(event) for event in events()]
    assert short.stable == long.stable


@pytest.mark.parametrize(
    "source", ["call.n == '3'", "call.tool == 'a' || call.ok", "call.tool", "call.tool == 'a\\'b'"]
)
def test_what_is_not_short_is_left_alone(source: str) -> None:
    assert FieldIs.read(source) is None


def test_tags_use_each_other_and_stay_three_valued() -> None:
    calls = [event for event in events() if event.event == "call"]
    assert [TAGS.value(call, "risky") for call in calls] == [True, False, False, False, None]
    assert [TAGS.value(call, "big") for call in calls] == [True, False, False, False, None]
    assert TAGS.predicate("big || edit").match(calls[3]) is True
    assert TAGS.definitions_for(["big"]) == {"big": TAGS.configured["big"], "risky": TAGS.configured["risky"]}
    assert TAGS.names_on(calls[0]) == ["payment", "write", "risky", "big"]


def test_a_tag_of_a_turn_is_a_turn() -> None:
    tags = Tags({"agreed": "user_turn && call.text.matches('(?i)yes')"})
    predicate = tags.predicate("agreed")
    script = Script().user("no").user("Yes").call("t", {})
    assert predicate.on_turns
    assert [predicate.match(event) for event in Trace(script.run(), ActionTable()).events] == [False, True, False]
