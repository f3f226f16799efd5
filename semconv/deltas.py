"""Streamed answers: the pieces of one message, sent as events, put together again.

Each piece is one of OpenAI's chunks, alone or in `choices`: `{"index": …, "delta": {"content": …, "tool_calls": […]}}`,
a call's piece `{"index", "id", "function": {"name", "arguments"}}`. Pieces of several calls may be mixed: their own
index tells them apart.
"""

from __future__ import annotations

from typing import Any

from semconv.decode import json_or_none

MAX_CALLS = 1_000


def joined(items: list[Any]) -> list[dict[str, Any]] | None:
    """One message for each answer streamed, None where the items are no pieces of any."""
    if not items or not _deltas(items[0]):
        return None
    deltas = [delta for item in items for delta in _deltas(item)]
    if len(deltas) < len(items):
        return None
    answers: dict[int, tuple[list[str], dict[int, dict[str, str]]]] = {}
    for answer, delta in deltas:
        texts, calls = answers.setdefault(answer, ([], {}))
        if isinstance(delta.get("content"), str):
            texts.append(delta["content"])
        pieces = delta.get("tool_calls")
        for piece in pieces if isinstance(pieces, list) else ():
            _add(calls, piece)
    return [_message(*answers[answer]) for answer in sorted(answers)]


def _deltas(item: Any) -> list[tuple[int, dict[str, Any]]]:
    if not isinstance(item, dict):
        return []
    choices = item.get("choices")
    if isinstance(choices, list) and choices and "delta" not in item:
        return [delta for choice in choices for delta in _deltas(choice)]
    delta = item.get("delta")
    if isinstance(delta, str):
        delta = json_or_none(delta)
    return [(_index(item), delta)] if isinstance(delta, dict) else []


def _add(calls: dict[int, dict[str, str]], piece: Any) -> None:
    if not isinstance(piece, dict) or len(calls) >= MAX_CALLS:
        return
    call = calls.setdefault(_index(piece), {"id": "", "name": "", "arguments": ""})
    function = piece.get("function")
    told = {**(function if isinstance(function, dict) else {}), "id": piece.get("id")}
    for key in ("id", "name"):
        if isinstance(told.get(key), str) and not call[key]:
            call[key] = told[key]
    if isinstance(told.get("arguments"), str):
        call["arguments"] += told["arguments"]


def _index(item: dict[str, Any]) -> int:
    index = item.get("index")
    return index if type(index) is int else 0


def _message(texts: list[str], calls: dict[int, dict[str, str]]) -> dict[str, Any]:
    return {"role": "assistant", "content": "".join(texts), "tool_calls": [calls[index] for index in sorted(calls)]}
