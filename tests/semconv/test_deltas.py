"""Streamed pieces of an answer are joined to the calls and the text they are of."""

from __future__ import annotations

from typing import Any

import msgspec

from semconv.deltas import joined
from semconv.messages import messages_of
from semconv.resolve import facts_of
from semconv.words import Words
from tests.semconv.build import event, span


def piece(call: int, **told: Any) -> dict[str, Any]:
    function = {key: told.pop(key) for key in ("name", "arguments") if key in told}
    return {"index": 0, "delta": {"tool_calls": [{"index": call, "function": function, **told}]}}


PIECES = [
    {"index": 0, "delta": {"role": "assistant", "content": "Look"}},
    piece(1, id="c-2", name="weather", arguments='{"city"'),
    piece(0, id="c-1", name="refund", arguments='{"order"'),
    piece(1, arguments=': "Oslo"}'),
    {"index": 0, "delta": {"content": "ing."}},
    piece(0, arguments=': "A"}'),
]


def test_b098_mixed_pieces_of_two_calls_are_two_calls() -> None:
    (message,) = messages_of(PIECES, "assistant")
    assert [(part.kind, part.text, part.call_id, part.tool, part.value) for part in message.parts] == [
        ("text", "Looking.", "", "", None),
        ("tool_call", "", "c-1", "refund", {"order": "A"}),
        ("tool_call", "", "c-2", "weather", {"city": "Oslo"}),
    ]


def test_pieces_come_as_span_events() -> None:
    events = tuple(
        event("gen_ai.choice", index=one["index"], delta=msgspec.json.encode(one["delta"]).decode()) for one in PIECES
    )
    facts = facts_of(span({"gen_ai.operation.name": "chat"}, events=events), Words())
    assert facts.messages_out == messages_of(PIECES, "assistant")


def test_pieces_come_in_chunks_of_choices_and_of_several_answers() -> None:
    chunks = [
        {"choices": [{"index": 1, "delta": {"content": "b"}}]},
        {"choices": [{"index": 0, "delta": {"content": "a"}}]},
    ]
    assert [message.parts[0].text for message in messages_of(chunks, "assistant")] == ["a", "b"]


def test_a_call_cut_off_in_the_stream_is_truncated() -> None:
    (message,) = messages_of(PIECES[1:3], "assistant")
    assert [part.input_state for part in message.parts] == ["truncated", "truncated"]


def test_whole_messages_are_no_pieces() -> None:
    assert joined([{"role": "user", "content": "a"}]) is None
    assert joined([PIECES[0], {"role": "user", "content": "a"}]) is None
    assert joined([]) is None
    assert joined([{"delta": []}, {"delta": None}]) is None
