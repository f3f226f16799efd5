"""A run's lines → the beginnings of its conversation, for replay: what would the agent do next from here?

Messages have the shape of OpenAI's chat requests, which every harness can be started from.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

Row = dict[str, Any]


def prefixes_of(lines: Sequence[Row]) -> Iterator[Row]:
    """One record for each turn of the agent but the first: the messages before it, and what it did (`next`).

    N turns give N-1 of them; what comes before the first turn is the task itself. Sub-agents' lines are left out:
    their conversations are not this one.
    """
    messages, turns = conversation_of(lines)
    for number, at in enumerate(turns[1:], 2):
        yield {"turn": number, "of": len(turns), "messages": messages[:at], "next": messages[at]}


def conversation_of(lines: Sequence[Row]) -> tuple[list[Row], list[int]]:
    """The messages of a run, and the places of the agent's own among them."""
    messages: list[Row] = []
    turns: list[int] = []
    said_id, open_turn = "", False
    calls = _Calls()
    for line in lines:
        role = line["role"]
        if line.get("depth") or role == "result":
            continue
        if role == "assistant":
            message_id = line.get("message_id", "")
            if not (open_turn or (message_id and message_id == said_id)):
                turns.append(len(messages))
                messages.append({"role": "assistant", "content": None})
            said_id, open_turn = message_id, True
            _add(messages[turns[-1]], line, calls)
        else:
            open_turn = False
            messages.append(_message(line, calls))
    return messages, turns


class _Calls:
    """The id of each call: its own, else one made of its line; an answer without one takes that of its call."""

    def __init__(self) -> None:
        self._open: list[tuple[str, str]] = []  # tool and made id of calls without an id that wait for an answer

    def asked(self, line: Row) -> str:
        if line.get("call_id"):
            return str(line["call_id"])
        self._open.append((line["tool"], f"call_{line['n']}"))
        return self._open[-1][1]

    def answered(self, line: Row) -> str:
        if line.get("call_id"):
            return str(line["call_id"])
        found = next((one for one in self._open if one[0] == line.get("tool", "")), None)
        if found is None:
            return f"call_{line['n']}"  # its call was not captured: an id all the same, as the shape demands
        self._open.remove(found)
        return found[1]


def _add(turn: Row, line: Row, calls: _Calls) -> None:
    if line.get("tool"):
        arguments = json.dumps(line.get("input", {}), ensure_ascii=False)
        call = {"name": line["tool"], "arguments": arguments}
        turn.setdefault("tool_calls", []).append({"id": calls.asked(line), "type": "function", "function": call})
    elif line.get("text"):
        turn["content"] = "\n".join(filter(None, (turn["content"], line["text"])))


def _message(line: Row, calls: _Calls) -> Row:
    if line["role"] != "tool":
        return {"role": line["role"], "content": line.get("text", "")}
    output = line.get("output", line.get("error", ""))
    text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
    return {"role": "tool", "tool_call_id": calls.answered(line), "name": line.get("tool", ""), "content": text}
