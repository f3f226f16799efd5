"""What normalisers of tool calls were reported to lose or misread (docs/known-cases.md), as far as one span tells."""

from __future__ import annotations

import json
from typing import Any

import pytest

from semconv.decode import arguments, result
from semconv.explain import explain
from semconv.resolve import facts_of
from semconv.words import Words
from tests.semconv.build import span
from tests.semconv.recorded import capture, ready_input

WORDS = Words()


@pytest.mark.parametrize(
    ("sent", "value"),
    [
        ('"{\\"order_id\\": \\"A-17\\"}"', {"order_id": "A-17"}),
        (json.dumps(json.dumps([{"role": "tool", "content": '{"order_id": "A-17"}'}])), {"order_id": "A-17"}),
        ('"A-17"', "A-17"),
        ('"17"', "17"),
        ('"true"', "true"),
        ('"he said \\"no\\""', 'he said "no"'),
    ],
)  # fmt: skip
def test_b085_a_second_decoding_gives_an_object_or_the_text_itself(sent: str, value: object) -> None:
    """Text is not decoded on and on until it is a number or a truth value: ids that look like one stay text."""
    assert arguments(sent)[0] == value


def test_b085_a_result_encoded_twice_is_decoded_only_where_it_holds_one() -> None:
    assert result('"{\\"total\\": 12}"') == {"total": 12}
    assert [result(text) for text in ('"17"', "17", '"A-17"')] == ["17", "17", "A-17"]


def test_b091_a_tool_span_with_nothing_but_a_kind_and_its_name() -> None:
    facts = facts_of(span({"openinference.span.kind": "TOOL"}, name="refund"), WORDS)
    assert (facts.operation, facts.tool, facts.input, facts.input_state) == ("tool", "refund", None, "not_captured")
    assert facts.output is None


VENDOR_HINTS: list[dict[str, Any]] = [
    {"gen_ai.system": "openai", "gen_ai.request.model": "m"},
    {"gen_ai.provider.name": "crewai", "gen_ai.response.model": "m"},
    {"llm.request.type": "chat"},
    {"gen_ai.prompt.0.role": "user"},
]


@pytest.mark.parametrize("hint", VENDOR_HINTS, ids=lambda hint: next(iter(hint)))
@pytest.mark.parametrize(
    ("kind", "operation"),
    [
        ({"traceloop.span.kind": "tool"}, "tool"),
        ({"traceloop.span.kind": "task"}, "other"),
        ({"traceloop.span.kind": "agent"}, "agent"),
        ({"openinference.span.kind": "TOOL"}, "tool"),
        ({"openinference.span.kind": "CHAIN"}, "other"),
        ({"gen_ai.operation.name": "execute_tool"}, "tool"),
    ],
    ids=lambda kind: "=".join(next(iter(kind.items()))) if isinstance(kind, dict) else kind,
)
def test_b096_a_spans_kind_beats_what_a_vendor_hints(
    kind: dict[str, str], operation: str, hint: dict[str, Any]
) -> None:
    """Crew and task spans carry the names of a provider and a model, and are no requests to one."""
    for attributes in ({**kind, **hint}, {**hint, **kind}):
        assert facts_of(span(attributes, name="refund"), WORDS).operation == operation


def test_b111_content_that_is_switched_off_says_how_to_switch_it_on() -> None:
    """Its messages moved from span events to log events: there they are read, and without them it is said."""
    spans, _ = capture("otel_openai_v2_nocontent")
    told = [missing for one in spans for missing in explain(one, WORDS).missing if missing.fact == "messages"]
    assert told
    assert all("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT" in one.why for one in told)


OPTIONAL = (
    "gen_ai.tool.call.id",
    "gen_ai.tool.type",
    "gen_ai.agent.name",
    "passhat.trial.id",
    "passhat.task.version",
    "gen_ai.tool.call.result",
)


@pytest.mark.parametrize("missing", OPTIONAL)
def test_b112_a_field_that_is_missing_costs_no_other(missing: str) -> None:
    spans, _ = ready_input("I05")
    for one in spans:
        less = {key: value for key, value in one.attributes.items() if key != missing}
        whole, left = facts_of(one, WORDS), facts_of(span(less, name=one.name, scope=one.scope.name), WORDS)
        assert (left.operation, left.tool, left.input, left.input_state, left.status) == (
            whole.operation,
            whole.tool,
            whole.input,
            whole.input_state,
            whole.status,
        )
