"""The parts of a message: one block of content of any convention to `Part`s, told apart by its shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from semconv.blocks import Found, reads_failed, result_of, says_failed
from semconv.decode import arguments, is_withheld, json_or_none, json_text, plain, text_of
from semconv.facts import Part
from semconv.values import Value


def result_part(found: Found, call_id: str, tool: str, failed: bool) -> Part:
    failed = failed or says_failed(found.value) or reads_failed(found.value)
    return Part("tool_result", call_id=call_id, tool=tool, value=found.value, error=failed)


def calls_in(item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Calls beside the content: `tool_calls` in every spelling, the older `function_call`."""
    for key in ("tool_calls", "toolCalls", "tool_uses"):
        calls = item.get(key)
        if isinstance(calls, str):
            calls = json_or_none(calls)
        if isinstance(calls, list):
            for call in calls:
                if isinstance(call, dict):
                    yield call.get("tool_call", call) if isinstance(call.get("tool_call", call), dict) else call
    older = item.get("function_call")
    if isinstance(older, dict) and (older.get("name") or older.get("arguments")):
        yield older


def call_parts(call: dict[str, Any]) -> Iterator[Part]:
    """The call a map tells of, in any spelling of its name, id and arguments; nothing where it is none."""
    function = call.get("function")
    inner = function if isinstance(function, dict) else call
    tool = inner.get("name") or inner.get("toolName") or inner.get("tool_name") or inner.get("tool")
    call_id = call.get("call_id") or call.get("id") or call.get("toolCallId") or call.get("toolUseId")
    value: Value = None
    for key in ("arguments", "args", "input", "parameters"):
        if key in inner:
            value = inner[key]
            break
    found, state = arguments(value)
    if tool or call_id or found:
        yield Part("tool_call", call_id=text_of(call_id), tool=text_of(tool), value=found, input_state=state)


def parts_of(piece: Value) -> Iterator[Part]:
    """The parts of one block of content."""
    if isinstance(piece, str):
        if piece.strip() and not is_withheld(piece):
            yield Part("text", piece)
        return
    if not isinstance(piece, dict):
        return
    if isinstance(piece.get("message_content"), dict):
        piece = {**piece, **piece["message_content"]}
    kind = kind_of(piece)
    read = PART_KINDS.get(kind)
    if read is not None:
        yield from read(piece)
        return
    for key, reader in _UNTYPED.items():
        if key in piece:
            yield from reader(piece)
            return
    if piece:
        yield Part("other", kind)


def kind_of(item: dict[str, Any]) -> str:
    """The `type` of a block or message, '' where it has none."""
    kind = item.get("type")
    return kind if isinstance(kind, str) else ""


def is_block(block: dict[str, Any]) -> bool:
    return kind_of(block) in PART_KINDS or any(key in block for key in _UNTYPED) or "message_content" in block


def _text(piece: dict[str, Any]) -> Iterator[Part]:
    for key in ("content", "text", "value"):
        said = piece.get(key)
        if isinstance(said, str):
            if said and not is_withheld(said):
                yield Part("text", said)
            return
        if said is not None:
            yield Part("text", json_text(plain(said)))
            return


def _reasoning(piece: dict[str, Any]) -> Iterator[Part]:
    said = piece.get("content") or piece.get("text") or piece.get("thinking") or piece.get("reasoning")
    yield Part("reasoning", said if isinstance(said, str) and not is_withheld(said) else "")


def _call_part(piece: dict[str, Any]) -> Iterator[Part]:
    inner = piece.get("server_tool_call")
    if isinstance(piece.get("tool_call"), dict):
        yield from call_parts(piece["tool_call"])
    elif isinstance(inner, dict):
        yield from call_parts(
            {"id": piece.get("id"), "name": piece.get("name"), "arguments": inner.get("arguments", inner)}
        )
    else:
        yield from call_parts(piece)


def _result_block(piece: dict[str, Any]) -> Iterator[Part]:
    value: Value = None
    for key in ("response", "result", "output", "content", "server_tool_call_response"):
        if key in piece:
            value = piece[key]
            break
    found = result_of(value)
    call_id = piece.get("id") or piece.get("tool_use_id") or piece.get("toolCallId") or piece.get("call_id")
    tool = piece.get("name") or piece.get("toolName") or piece.get("tool_name")
    failed = found.failed or piece.get("is_error") is True or piece.get("isError") is True
    yield result_part(found, text_of(call_id) or found.call_id, text_of(tool) or found.tool, failed)


def _bedrock_call(piece: dict[str, Any]) -> Iterator[Part]:
    held = piece["toolUse"]
    if isinstance(held, dict):
        yield from call_parts(held)


def _bedrock_result(piece: dict[str, Any]) -> Iterator[Part]:
    found = result_of(piece["toolResult"])
    yield result_part(found, found.call_id, found.tool, found.failed)


def _gemini_call(piece: dict[str, Any]) -> Iterator[Part]:
    held = piece.get("functionCall") or piece.get("function_call")
    if isinstance(held, dict):
        yield from call_parts(held)


def _gemini_result(piece: dict[str, Any]) -> Iterator[Part]:
    held = piece.get("functionResponse") or piece.get("function_response")
    if not isinstance(held, dict):
        return
    response = held.get("response")
    if isinstance(response, dict) and len(response) == 1:
        # By Gemini's own rule `output` and `error` are a function's answer, any other key is part of it.
        for key in ("output", "error"):
            if key in response:
                held = {**held, "response": response[key], "is_error": key == "error"}
    yield from _result_block(held)


RESULTS: Final = frozenset(
    ["tool_call_response", "tool_result", "tool-result", "function_call_output", "server_tool_call_response"]
)
RESULT_KEYS: Final = frozenset(["toolResult", "functionResponse", "function_response"])
_Reader = Callable[[dict[str, Any]], Iterator[Part]]
PART_KINDS: Final[dict[str, _Reader]] = {
    **dict.fromkeys(("text", "output_text", "input_text", "refusal"), _text),
    **dict.fromkeys(("reasoning", "thinking", "redacted_thinking", "reasoning_content"), _reasoning),
    **dict.fromkeys(
        ("tool_call", "tool_use", "tool-call", "function_call", "server_tool_call", "server_tool_use"), _call_part
    ),
    **dict.fromkeys(RESULTS, _result_block),
}
# Blocks that say what they are by their only key.
_UNTYPED: Final[dict[str, _Reader]] = {
    "functionCall": _gemini_call,
    "function_call": _gemini_call,
    "functionResponse": _gemini_result,
    "function_response": _gemini_result,
    "toolUse": _bedrock_call,
    "toolResult": _bedrock_result,
    "tool_call": _call_part,
    "reasoningContent": _reasoning,
    "text": _text,
}
