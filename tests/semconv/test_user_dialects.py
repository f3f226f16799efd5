"""A new harness is a file: users add a dialect or build on one, and a wrong file says what is wrong where."""

from __future__ import annotations

from typing import Any

import pytest

from semconv.dialect import Dialect, DialectError, Fields, dialect_from
from semconv.registry import Matched
from semconv.resolve import facts_of, facts_of_log
from semconv.sources import compiled
from semconv.words import Words, is_attribute
from tests.semconv.build import event, log, span

HERMES: dict[str, Any] = {
    "name": "hermes",
    "match": [{"scope": "hermes.*"}, {"attribute": "hermes.kind"}],
    "ignore": [{"attribute": "hermes.kind", "equals": "preview"}],
    "operation": {
        "attributes": "hermes.kind",
        "values": {"step": "tool", "llm": "chat"},
        "names": {"session *": "agent"},
    },
    "fields": {"conversation": "hermes.session", "agent": "=hermes"},
    "tool": {
        "tool": "hermes.tool",
        "call_id": ["hermes.call", "$event:call#/id"],
        "input": "hermes.payload#/in/args",
        "output": "hermes.payload#/out",
        "failed": {"hermes.ok": ["false"]},
        "succeeded": {"hermes.ok": ["true"]},
        "exit_code": "hermes.payload#/code",
    },
    "chat": {"messages_in": "$indexed:hermes.said", "input_tokens": "hermes.tokens"},
    "logs": {
        "hermes.asked": {
            "operation": "agent",
            "boundary": "start",
            "fields": {"messages_in": "$body", "attempt": "hermes.ask", "join": "hermes.ask"},
        }
    },
    "content": "start hermes with --tell",
}


def test_a_new_harness_is_a_file() -> None:
    words = Words(dialects=[HERMES])
    sent = {
        "hermes.kind": "step",
        "hermes.tool": "refund",
        "hermes.session": "s-1",
        "hermes.payload": '{"in": {"args": {"order": "A"}}, "out": {"done": true}, "code": 0}',
        "hermes.ok": True,
    }
    facts = facts_of(span(sent, events=(event("call", id="c-1"),)), words)
    assert (facts.dialect, facts.operation, facts.tool, facts.call_id) == ("hermes", "tool", "refund", "c-1")
    assert (facts.input, facts.input_state, facts.output) == ({"order": "A"}, "object", {"done": True})
    assert (facts.status, facts.agent, facts.conversation_id) == ("ok", "hermes", "s-1")


def test_a_dialects_chat_names_and_ignored_spans() -> None:
    words = Words(dialects=[HERMES])
    chat = facts_of(span({"hermes.kind": "llm", "hermes.said.0.content": "Refund A", "hermes.tokens": "12"}), words)
    assert (chat.operation, chat.input_tokens) == ("chat", 12)
    assert [part.text for message in chat.messages_in for part in message.parts] == ["Refund A"]
    assert facts_of(span({}, scope="hermes.core", name="session 4"), words).operation == "agent"
    assert facts_of(span({}, scope="hermes.core", name="tick"), words).operation == "other"
    assert facts_of(span({"hermes.kind": "preview"}, name="session 4"), words).operation == "other"


def test_a_dialects_log_events() -> None:
    words = Words(dialects=[HERMES])
    facts = facts_of_log(
        log({"hermes.ask": "q-1"}, scope="hermes.log", event_name="hermes.asked", body="Refund A"), words
    )
    assert (facts.operation, facts.boundary, facts.attempt) == ("agent", "start", "q-1")
    assert facts.join_keys == ("hermes=q-1",)
    assert facts_of_log(log({}, scope="other", event_name="hermes.asked"), words).operation == ""


def test_built_in_dialects_can_be_built_on() -> None:
    more = {"name": "otel_genai", "extends": "otel_genai", "priority": 60, "tool": {"input": "acme.args"}}
    words = Words(dialects=[more])
    general = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "refund"}
    assert facts_of(span({**general, "acme.args": '{"a": 1}'}), words).input == {"a": 1}
    assert facts_of(span({**general, "gen_ai.tool.call.arguments": '{"b": 2}'}), words).input == {"b": 2}
    renamed = Words(dialects=[{"name": "acme", "extends": "otel_genai", "match": [{"scope": "acme"}], "priority": 5}])
    assert facts_of(span(general, scope="acme"), renamed).dialect == "acme"
    assert facts_of(span(general), renamed).dialect == "otel_genai"


def test_the_same_name_replaces_a_built_in_dialect() -> None:
    words = Words(dialects=[{"name": "mcp", "match": [{"attribute": "mcp.method.name"}], "priority": 55}])
    assert facts_of(span({"mcp.method.name": "tools/call"}), words).operation == "other"


@pytest.mark.parametrize(
    ("definition", "said"),
    [
        ({}, "dialect without a name: Object missing required field `name`"),
        ({"name": "x"}, "dialect 'x': needs `match`, `logs` or `extends`"),
        ({"name": "x", "match": [{"name": "y"}]}, "dialect 'x': match[0] needs `scope` or `attribute`"),
        ({"name": "x", "match": [{"scope": "y"}], "tols": {}}, "unknown key `tols`: did you mean `tool`?"),
        (
            {"name": "x", "match": [{"scope": "y"}], "tool": {"inputs": "a"}},
            "unknown key `inputs` at `$.tool`: did you mean `input`?",
        ),
        (
            {"name": "x", "match": [{"scope": "y"}], "operation": {"values": {"a": "toll"}}},
            "Invalid enum value 'toll' - at `$.operation.values[...]`",
        ),
        (
            {"name": "x", "match": [{"scope": "y"}], "tool": {"input": 3}},
            "Expected `array`, got `int` - at `$.tool.input`",
        ),
        (
            {"name": "x", "match": [{"scope": "y"}], "tool": {"input": "$evnt:a#/b"}},
            "dialect 'x': tool.input: '$evnt:a#/b': no such source; known are $attributes",
        ),
        (
            {"name": "x", "match": [{"scope": "y"}], "logs": {"e": {"fields": {"tool": "$map:a"}}}},
            "dialect 'x': logs.e.tool: '$map:a': wants key=source",
        ),
        (
            {"name": "x", "match": [{"scope": "y"}], "chat": {"messages_in": "$filter:a"}},
            "dialect 'x': chat.messages_in: '$filter:a': wants an attribute",
        ),
        ({"name": "x", "extends": "nothing"}, "dialect 'x' extends 'nothing', which is not known; known are "),
        ("not a map", "dialect file 1: not a map of keys"),
    ],
)
def test_a_wrong_file_says_what_is_wrong(definition: Any, said: str) -> None:
    with pytest.raises(DialectError) as error:
        Words(dialects=[definition])
    assert said in str(error.value)


def test_one_source_needs_no_list() -> None:
    found = dialect_from({"name": "x", "match": [{"scope": "y"}], "tool": {"tool": "a", "input": ["b", "c"]}})
    assert found.tool == Fields(tool=("a",), input=("b", "c"))


def test_several_dialects_of_one_priority_are_read_in_a_fixed_order() -> None:
    files = [{"name": name, "match": [{"attribute": "k"}], "priority": 1} for name in ("b", "a")]
    for given in (files, files[::-1]):
        assert facts_of(span({"k": 1}), Words(dialects=given)).dialect == "a"


def test_evidence_is_all_of_a_condition() -> None:
    when = [{"scope": "lib", "attribute": "kind", "equals": "to*", "name": "run *"}]
    words = Words(dialects=[{"name": "x", "match": when}])
    assert facts_of(span({"kind": "tool"}, name="run a"), words).dialect == "x"
    for attributes, name in (({"kind": "x"}, "run a"), ({}, "run a"), ({"kind": "tool"}, "walk")):
        assert facts_of(span(attributes, name=name), words).dialect == ""
    assert isinstance(words.registry.match_of(span({"kind": "tool"}, name="run a")), Matched)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("eval.task_id", True),
        ("gen_ai.conversation.id", True),
        ("root.name", False),
        ("root.attributes['x'] + 'y'", False),
        ("a == b", False),
        ("", False),
    ],
)
def test_attributes_are_told_from_expressions(text: str, is_one: bool) -> None:
    assert is_attribute(text) is is_one


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("a", '{"x": [1, {"y": 2}]}'),
        ("a#/x/1/y", 2),
        ("a#/x/-1/y", 2),
        ("a#/x/7", None),
        ("a#/x/y", None),
        ("missing#/x", None),
        ("=fixed", "fixed"),
        ("$name", "call refund now"),
        ("$name:call * now", "refund"),
        ("$name:call *", "refund now"),
        ("$name:other *", None),
        ("$event:e#/k.dotted", "v"),
        ("$event:e#/json/z", 3),
        ("$event:e*#/k.dotted", "v"),
        ("$event:none#/k", None),
        ("$events:e,f", [{"event.name": "e", "k.dotted": "v", "json": '{"z": 3}'}]),
        ("$prefix:p.", {"q": 1, "r.s": 2}),
        ("$prefix:none.", None),
        ("$indexed:i", [{"role": "user", "deep": [{"x": 1}]}, {"role": "tool"}]),
        ("$map:one=p.q,two=missing", {"one": 1}),
        ("$map:two=missing", None),
        ("$filter:list kind=a", [{"kind": "a"}]),
        ("$filter:list kind!=a", [{"kind": "b"}]),
        ("$resource:service.name", "shop"),
        ("$scope:li*=known", "known"),
        ("$scope:other=known", None),
        ("$status", "said"),
        ("$body", None),
    ],
)
def test_each_source_of_the_language(source: str, found: Any) -> None:
    from semconv.sources import first, of_span

    one = span(
        {
            "a": '{"x": [1, {"y": 2}]}',
            "p.q": 1,
            "p.r.s": 2,
            "i.0.role": "user",
            "i.0.deep.0.x": 1,
            "i.1.role": "tool",
            "list": '[{"kind": "a"}, {"kind": "b"}, 3]',
        },
        name="call refund now",
        events=(event("e", **{"k.dotted": "v", "json": '{"z": 3}'}),),
        resource={"service.name": "shop"},
        status=(2, "said"),
    )
    assert first(of_span(one), (compiled(source),)) == found


def test_a_dialect_is_frozen_data() -> None:
    with pytest.raises(AttributeError):
        Dialect(name="x").priority = 3  # type: ignore[misc]
