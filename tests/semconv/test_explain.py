"""Why a fact is missing is said with what would bring it."""

from __future__ import annotations

from typing import Any

import pytest

from semconv.explain import Explanation, explain, explain_log
from semconv.words import Words
from tests.semconv.build import log, span
from tests.semconv.recorded import CAPTURES, capture

WORDS = Words()
TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "refund"}


def why(found: Explanation, fact: str) -> str:
    return next((missing.why for missing in found.missing if missing.fact == fact), "")


def test_a_complete_call_misses_nothing() -> None:
    sent = {**TOOL, "gen_ai.tool.call.id": "1", "gen_ai.tool.call.arguments": "{}", "gen_ai.tool.call.result": ""}
    found = explain(span(sent, status=(1, "")), WORDS)
    assert (found.dialect, found.evidence, found.missing) == ("otel_genai", "attribute 'gen_ai.operation.name'", ())


def test_content_that_is_off_names_the_switch() -> None:
    found = explain(span(TOOL), WORDS)
    assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT" in why(found, "input")
    assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT" in why(found, "output")
    assert "neither status, error, exit code nor result tell" in why(found, "status")
    assert "matched with messages" in why(found, "call_id")


def test_withheld_content_names_the_attribute() -> None:
    sent = {"event.name": "assistant_response", "response": "<REDACTED>"}
    found = explain_log(log(sent, scope="com.anthropic.claude_code.events"), WORDS)
    assert found.evidence == "event 'assistant_response' of scope 'com.anthropic.claude_code.events'"
    assert "response is <REDACTED>" in why(found, "messages")
    assert "OTEL_LOG_ASSISTANT_RESPONSES=1" in why(found, "messages")


@pytest.mark.parametrize(
    ("given", "fact", "words"),
    [
        ({"attributes": {**TOOL, "gen_ai.tool.call.arguments": '{"a'}}, "input as an object", "truncated"),
        ({"attributes": {**TOOL, "gen_ai.tool.call.arguments": '{"a'}}, "whole content", "VALUE_LENGTH_LIMIT"),
        ({"attributes": {**TOOL, "gen_ai.tool.call.arguments": "A-17"}}, "input as an object", "text"),
        ({"attributes": TOOL, "status": (2, "no")}, "output", "its error is kept"),
        ({"attributes": {"gen_ai.operation.name": "execute_tool"}}, "tool", "looked for gen_ai.tool.name"),
        ({"attributes": TOOL, "dropped_attributes": 3}, "3 attributes", "COUNT_LIMIT"),
        ({"attributes": TOOL, "dropped_events": 2}, "2 events", "EVENT_COUNT_LIMIT"),
        ({"attributes": {"gen_ai.operation.name": "chat"}}, "tokens", "gen_ai.usage.input_tokens"),
        ({"attributes": {"gen_ai.operation.name": "chat"}}, "model", "gen_ai.request.model"),
        ({"attributes": {"gen_ai.operation.name": "invoke_agent"}}, "agent", "gen_ai.agent.name"),
        ({"attributes": {"a": 1, "b": 2}}, "dialect", "its attributes are a, b"),
        ({"attributes": {f"k{n}": n for n in range(9)}}, "dialect", "and 4 more"),
        ({"attributes": {}, "scope": ""}, "dialect", "it has no scope, its attributes are none"),
    ],
)
def test_each_reason(given: dict[str, Any], fact: str, words: str) -> None:
    given = dict(given)
    assert words in why(explain(span(given.pop("attributes"), **given), WORDS), fact)


def test_a_record_nobody_knows_is_explained() -> None:
    found = explain_log(log({}, scope="mylib", body="hello"), WORDS)
    assert (found.dialect, found.name) == ("", "hello")
    assert "its scope is 'mylib'" in why(found, "dialect")


def test_evidence_of_several_kinds_is_named() -> None:
    when = [{"scope": "lib", "attribute": "kind", "equals": "x", "name": "run *"}]
    words = Words(dialects=[{"name": "acme", "match": when}])
    found = explain(span({"kind": "x"}, name="run 1"), words)
    assert found.evidence == "scope 'lib' and attribute 'kind' = 'x' and name 'run *'"


def test_a_dialect_that_broke_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr("semconv.resolve._add_call", broken)
    assert "failed on a value" in why(explain(span(TOOL), WORDS), "everything")


@pytest.mark.parametrize("name", CAPTURES)
def test_every_step_without_arguments_says_why(name: str) -> None:
    spans, logs = capture(name)
    for found in [*(explain(one, WORDS) for one in spans), *(explain_log(one, WORDS) for one in logs)]:
        if found.facts.operation == "tool" and found.facts.input_state == "not_captured":
            assert why(found, "input")
