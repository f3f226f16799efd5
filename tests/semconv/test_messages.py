"""Messages of every shape become the same messages, and the fast way and the general one agree."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semconv import messages as module
from semconv.facts import Message, Part
from semconv.messages import messages_of, system_of, text_in

ASKED = Message("user", (Part("text", "Refund A"),))
CALLED = Message(
    "assistant", (Part("tool_call", call_id="c-1", tool="refund", value={"id": "A"}, input_state="object"),)
)
ANSWERED = Message("tool", (Part("tool_result", call_id="c-1", value={"ok": True}),))
SAID = Message("assistant", (Part("text", "Done."),))
CONVERSATION = (ASKED, CALLED, ANSWERED, SAID)
ARGUMENTS, RESULT = '{"id": "A"}', '{"ok": true}'

SHAPES: dict[str, list[Any]] = {
    "genai": [
        {"role": "user", "parts": [{"type": "text", "content": "Refund A"}], "name": None},
        {
            "role": "assistant",
            "parts": [{"type": "tool_call", "id": "c-1", "name": "refund", "arguments": {"id": "A"}}],
        },
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c-1", "response": RESULT}]},
        {"role": "assistant", "parts": [{"type": "text", "content": "Done."}], "finish_reason": "stop"},
    ],
    "pydantic-ai": [
        {"role": "user", "parts": [{"type": "text", "content": "Refund A"}]},
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "c-1", "name": "refund", "arguments": ARGUMENTS}]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c-1", "result": {"ok": True}}]},
        {"role": "assistant", "parts": [{"type": "text", "content": "Done."}]},
    ],
    "openai": [
        {"role": "user", "content": "Refund A"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c-1", "type": "function", "function": {"name": "refund", "arguments": ARGUMENTS}}],
        },
        {"role": "tool", "content": RESULT, "tool_call_id": "c-1"},
        {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
    ],
    "openai responses": [
        {"role": "user", "content": [{"type": "input_text", "text": "Refund A"}], "type": "message"},
        {"type": "function_call", "call_id": "c-1", "name": "refund", "arguments": ARGUMENTS},
        {"type": "function_call_output", "call_id": "c-1", "output": RESULT},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]},
    ],
    "gemini": [
        {"role": "user", "parts": [{"text": "Refund A"}]},
        {"role": "model", "parts": [{"functionCall": {"id": "c-1", "name": "refund", "args": {"id": "A"}}}]},
        {"role": "tool", "parts": [{"functionResponse": {"id": "c-1", "response": {"ok": True}}}]},
        {"role": "model", "parts": [{"text": "Done."}]},
    ],
    "bedrock": [
        {"role": "user", "content": [{"text": "Refund A"}]},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c-1", "name": "refund", "input": {"id": "A"}}}]},
        {
            "role": "tool",
            "content": [{"toolResult": {"toolUseId": "c-1", "status": "success", "content": [{"text": RESULT}]}}],
        },
        {"role": "assistant", "content": [{"text": "Done."}]},
    ],
    "anthropic": [
        {"role": "user", "content": "Refund A"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c-1", "name": "refund", "input": {"id": "A"}}]},
        {"role": "tool", "content": [{"type": "tool_result", "tool_use_id": "c-1", "content": RESULT}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
    ],
    "vercel": [
        {"role": "user", "content": [{"type": "text", "text": "Refund A"}]},
        {
            "role": "assistant",
            "content": [{"type": "tool-call", "toolCallId": "c-1", "toolName": "refund", "input": {"id": "A"}}],
        },
        {
            "role": "tool",
            "content": [
                {"type": "tool-result", "toolCallId": "c-1", "output": {"type": "json", "value": {"ok": True}}},
            ],
        },
        {"role": "assistant", "content": "Done."},
    ],
    "langchain": [
        {"type": "human", "content": "Refund A"},
        {"type": "ai", "content": "", "tool_calls": [{"name": "refund", "args": {"id": "A"}, "id": "c-1"}]},
        {"type": "tool", "content": RESULT, "tool_call_id": "c-1"},
        {"type": "ai", "content": "Done."},
    ],
    "langchain data": [
        {"type": "human", "data": {"content": "Refund A"}},
        {
            "type": "ai",
            "data": {"content": "", "tool_calls": [{"name": "refund", "args": {"id": "A"}, "id": "c-1"}]},
        },
        {"type": "tool", "data": {"content": RESULT, "tool_call_id": "c-1"}},
        {"type": "ai", "data": {"content": "Done."}},
    ],
    "langchain constructor": [
        {"lc": 1, "id": ["langchain", "HumanMessage"], "kwargs": {"content": "Refund A"}},
        {
            "lc": 1,
            "id": ["langchain", "AIMessage"],
            "kwargs": {"content": "", "tool_calls": [{"name": "refund", "args": {"id": "A"}, "id": "c-1"}]},
        },
        {"lc": 1, "id": ["langchain", "ToolMessage"], "kwargs": {"content": RESULT, "tool_call_id": "c-1"}},
        {"lc": 1, "id": ["langchain", "AIMessage"], "kwargs": {"content": "Done."}},
    ],
    "openinference": [
        {"message": {"role": "user", "content": "Refund A"}},
        {
            "message": {
                "role": "assistant",
                "tool_calls": [
                    {"tool_call": {"id": "c-1", "function": {"name": "refund", "arguments": ARGUMENTS}}},
                ],
            }
        },
        {"message": {"role": "tool", "content": RESULT, "tool_call_id": "c-1"}},
        {"message": {"role": "assistant", "contents": [{"message_content": {"type": "text", "text": "Done."}}]}},
    ],
    "events": [
        {"event.name": "gen_ai.user.message", "content": "Refund A"},
        {
            "event.name": "gen_ai.assistant.message",
            "tool_calls": [{"id": "c-1", "function": {"name": "refund", "arguments": ARGUMENTS}}],
        },
        {"event.name": "gen_ai.tool.message", "content": RESULT, "id": "c-1"},
        {"event.name": "gen_ai.choice", "index": 0, "message": {"content": "Done."}},
    ],
}


def _without_ids(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    return tuple(Message(message.role, message.parts) for message in messages)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_gives_the_same_conversation(shape: str) -> None:
    assert _without_ids(messages_of(SHAPES[shape], "user")) == CONVERSATION
    assert _without_ids(messages_of(msgspec.json.encode(SHAPES[shape]).decode(), "user")) == CONVERSATION


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("Refund A", (ASKED,)),
        ('"Refund A"', (ASKED,)),
        ("", ()),
        ("<REDACTED>", ()),
        (None, ()),
        ([], ()),
        ({"messages": SHAPES["openai"][:1]}, (ASKED,)),
        ({"messages": [SHAPES["langchain"][:1]]}, (ASKED,)),
        (
            {"system": "Be brief.", "messages": SHAPES["anthropic"][:1]},
            (Message("system", (Part("text", "Be brief."),)), ASKED),
        ),
        ({"choices": [{"index": 0, "message": {"content": "Done."}}]}, (SAID,)),
        ({"generations": [[{"text": "x", "message": SHAPES["langchain constructor"][3]}]]}, (SAID,)),
        ([{"candidates": [{"content": {"role": "model", "parts": [{"text": "Done."}]}}]}], (SAID,)),
        ({"total": 3}, ()),
        ('{"total": 3}', (Message("user", (Part("text", '{"total": 3}'),)),)),
        ('[{"broken', (Message("user", (Part("text", '[{"broken'),)),)),
        ([["user", "Refund A"]], (ASKED,)),
    ],
)
def test_holders_of_messages_and_plain_text(value: Any, expected: tuple[Message, ...]) -> None:
    assert messages_of(value, "user") == expected


def test_failures_in_messages_are_failures() -> None:
    told = [
        {"role": "tool", "tool_call_id": "1", "content": "Error: no stock"},
        {"role": "tool", "tool_call_id": "2", "content": "ok", "is_error": True},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "3", "content": "no", "is_error": True}]},
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "4", "status": "error", "content": [{"text": "no"}]}}],
        },
        {
            "role": "tool",
            "content": [{"type": "tool-result", "toolCallId": "5", "output": {"type": "error-text", "value": "no"}}],
        },
        {"type": "tool", "content": "no", "tool_call_id": "6", "status": "error"},
        {"role": "tool", "tool_call_id": "7", "content": '{"status": "error"}'},
        {"role": "tool", "tool_call_id": "8", "content": "2 errors fixed"},
    ]
    found = [(part.call_id, part.error) for message in messages_of(told, "user") for part in message.parts]
    assert found == [(str(at), at < 8) for at in range(1, 9)]


def test_reasoning_and_unknown_parts_are_no_text() -> None:
    parts = [
        {"type": "reasoning", "content": "think"},
        {"type": "thinking", "thinking": "think"},
        {"type": "blob", "mime_type": "image/png", "content": "AAAA"},
        {"type": "text", "content": "Done."},
    ]
    found = messages_of([{"role": "assistant", "parts": parts}], "assistant")
    assert [part.kind for part in found[0].parts] == ["reasoning", "reasoning", "other", "text"]
    assert text_in(found, "assistant") == "Done."


def test_a_call_without_arguments_is_told_from_one_with_none() -> None:
    calls = [{"id": "1", "function": {"name": "f"}}, {"id": "2", "function": {"name": "f", "arguments": "{}"}}]
    (found,) = messages_of([{"role": "assistant", "tool_calls": calls}], "assistant")
    assert [(part.value, part.input_state) for part in found.parts] == [(None, "not_captured"), ({}, "object")]


@pytest.mark.parametrize(
    "sent",
    [
        [{"type": "text", "content": "Be brief."}],
        '[{"type": "text", "content": "Be brief."}]',
        "Be brief.",
        '"Be brief."',
        [{"role": "system", "content": "Be brief."}],
        {"parts": [{"text": "Be brief."}]},
        "  Be brief.",
    ],
)
def test_system_instructions_in_each_form(sent: Any) -> None:
    (found,) = system_of(sent)
    assert found.role == "system"
    assert found.parts[0].text.strip() == "Be brief."


PIECES = st.one_of(
    st.fixed_dictionaries({"type": st.just("text"), "content": st.text()}),
    st.fixed_dictionaries(
        {"type": st.just("tool_call"), "id": st.text(), "name": st.text(), "arguments": st.text() | st.just({"a": 1})}
    ),
    st.fixed_dictionaries({"type": st.just("tool_call_response"), "id": st.text(), "response": st.text()}),
    st.fixed_dictionaries({"type": st.text(), "content": st.none() | st.text()}),
)
GENAI = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["system", "user", "assistant", "tool"]), "parts": st.lists(PIECES, max_size=4)}
    ),
    max_size=4,
)


@given(GENAI)
def test_the_fast_way_finds_what_the_general_one_finds(items: list[Any]) -> None:
    fast = module._genai(items)
    assert fast is None or fast == tuple(module._each(items, "user", 0))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["role", "content", "parts", "type", "text", "message", "tool_calls", "id", "kwargs", "data"]
            )
            | st.text(),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)


@given(JSON)
def test_any_value_gives_messages_that_can_be_stored(value: Any) -> None:
    msgspec.json.encode(messages_of(value, "user"))
    msgspec.json.encode(system_of(value))


def test_nesting_without_end_ends() -> None:
    value: Any = {"role": "user", "content": "deep"}
    for _ in range(5_000):
        value = {"messages": [value]}
    assert messages_of(value, "user") == ()


@pytest.mark.parametrize(
    "blocks",
    [
        [{"text": "Done."}, {"toolUse": {"toolUseId": "c-1", "name": "refund", "input": {"id": "A"}}}],
        [
            {"type": "text", "text": "Done."},
            {"type": "tool_use", "id": "c-1", "name": "refund", "input": {"id": "A"}},
        ],
    ],
)
def test_the_blocks_of_one_message_without_its_role(blocks: Any) -> None:
    (found,) = messages_of(msgspec.json.encode(blocks).decode(), "assistant")
    assert found == Message("assistant", (*SAID.parts, *CALLED.parts))
    event = {"event.name": "gen_ai.choice", "message": msgspec.json.encode(blocks).decode(), "finish_reason": "x"}
    assert messages_of([event], "assistant") == (found,)


def test_smolagents_prints_its_calls_and_observations() -> None:
    told = [
        {
            "role": "tool-call",
            "content": "Calling tools:\n[{'id': 'c-1', 'function': {'name': 'refund', 'arguments': {'id': 'A'}}}]",
        },
        {"role": "tool-response", "content": "Observation:\ndone"},
        {"role": "tool-call", "content": "Calling nothing"},
    ]
    found = messages_of(told, "user")
    assert found == (CALLED, Message("tool", (Part("other", "observation"),)))


def test_a_message_that_lost_its_role_is_nobodys() -> None:
    """Attribute limits drop the oldest: a flattened message may be left with its content alone."""
    left = [{"message": {"content": "whose words?"}}, {"message": {"content": RESULT, "tool_call_id": "c-1"}}]
    assert messages_of(left, "user") == (ANSWERED,)
