"""Chat messages of any convention to `Message`, told apart by their shape and never by the attribute's name.

Shapes: OTel GenAI parts, OpenAI chat and Responses items, Anthropic and Bedrock blocks, Gemini contents, Vercel AI
SDK parts, LangChain messages (plain, `data`, `kwargs`), OpenInference (flattened), GenAI message events, plain text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from semconv.blocks import Found, reads_failed, result_of, says_failed
from semconv.decode import arguments, is_withheld, json_or_none, json_text, plain, text_of
from semconv.facts import Message, Part
from semconv.names import EVENT_NAME
from semconv.values import Value

_ROLES: Final = {
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
    "developer": "system",
    "function": "tool",
    "AIMessageChunk": "assistant",
    "remove": "system",
}
_EVENT_ROLES: Final = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    "gen_ai.choice": "assistant",
}
_CHAT_ROLES: Final = frozenset(["system", "user", "assistant", "tool"])
# Where a request or response keeps its messages: `{"messages": […]}`, `{"choices": […]}`, `{"generations": [[…]]}` …
_HOLDERS: Final = ("messages", "choices", "candidates", "generations", "contents", "output", "input", "outputs")
MAX_NESTING: Final = 8


def messages_of(value: Value, role: str) -> tuple[Message, ...]:
    """The messages in a value as sent (JSON text, list, map, plain text); `role` where a message says none."""
    return tuple(_each(value, role, 0))


def system_of(value: Value) -> tuple[Message, ...]:
    """System instructions: a list of parts, or text."""
    if isinstance(value, str) and value[:1] in ("[", "{", '"'):
        found = json_or_none(value)
        value = value if found is None else found
    if isinstance(value, list) and value and not any(isinstance(item, dict) and "role" in item for item in value):
        parts = tuple(part for item in value for part in _parts(item))
        return (Message("system", parts),) if parts else ()
    return messages_of(value, "system")


def text_in(messages: tuple[Message, ...], role: str) -> str:
    """The last message of a role that has text: what an agent answered, what a user asked."""
    for message in reversed(messages):
        if message.role == role:
            text = "\n".join(part.text for part in message.parts if part.kind == "text" and part.text)
            if text:
                return text
    return ""


def _each(value: Value, role: str, depth: int) -> Iterator[Message]:
    if depth > MAX_NESTING or value is None:
        return
    if isinstance(value, str):
        yield from _from_text(value, role, depth)
    elif isinstance(value, list):
        for item in value:
            yield from _each(item, role, depth + 1)
    elif isinstance(value, dict):
        yield from _from_map(value, role, depth)


def _from_text(text: str, role: str, depth: int) -> Iterator[Message]:
    if text[:1] in ("[", "{", '"'):
        found = json_or_none(text)
        if isinstance(found, dict | list):
            messages = list(_each(found, role, depth + 1))
            # JSON that is no message at all is what was said: a structured answer stays an answer.
            yield from messages or [Message(role, (Part("text", text),))]
            return
        if isinstance(found, str):
            text = found
    if text.strip() and not is_withheld(text):
        yield Message(role, (Part("text", text),))


def _from_map(item: dict[str, Any], role: str, depth: int) -> Iterator[Message]:
    inner = _inside(item)
    if inner is not None:
        yield from _each(inner, role, depth + 1)
        return
    if not _is_message(item):
        for holder in _HOLDERS:
            held = item.get(holder)
            if isinstance(held, list) or (isinstance(held, str) and held[:1] == "["):
                if isinstance(item.get("system"), str | list):
                    yield from system_of(item["system"])
                yield from _each(held, "assistant" if holder in _ANSWERS else role, depth + 1)
                return
    message = _message(item, role)
    if message is not None:
        yield message


_ANSWERS: Final = frozenset(["choices", "candidates", "generations", "output", "outputs"])


def _inside(item: dict[str, Any]) -> Any:
    """The message in a wrapper around one (`{"message": {…}}`, LangChain `kwargs` and `data`), None without one."""
    event = item.get(EVENT_NAME)
    if event == "gen_ai.choice" or ("message" in item and "role" not in item and "parts" not in item):
        held = item.get("message")
        return {"role": "assistant", **held} if isinstance(held, dict) and event else held
    kwargs = item.get("kwargs")
    if isinstance(kwargs, dict) and ("lc" in item or "content" in kwargs):
        kind = str(item.get("id", [""])[-1]) if isinstance(item.get("id"), list) else ""
        return {"role": _langchain_role(kind), **kwargs} if "role" not in kwargs else kwargs
    data = item.get("data")
    if isinstance(data, dict) and "content" in data and isinstance(item.get("type"), str):
        return {"role": item["type"], **{key: value for key, value in data.items() if key != "role"}}
    content = item.get("content")
    if isinstance(content, dict) and "parts" in content and "parts" not in item:
        return content  # a Gemini candidate
    return None


def _langchain_role(name: str) -> str:
    for start, role in (("Human", "user"), ("AI", "assistant"), ("Tool", "tool"), ("System", "system")):
        if name.startswith(start):
            return role
    return "assistant"


def _is_message(item: dict[str, Any]) -> bool:
    return (
        "role" in item
        or "parts" in item
        or EVENT_NAME in item
        or (_langchain_type(item) != "" and "content" in item)
        or item.get("type") in ("function_call", "function_call_output", "reasoning")
    )


def _langchain_type(item: dict[str, Any]) -> str:
    kind = item.get("type")
    return kind if isinstance(kind, str) and kind in ("human", "ai", "system", "tool", "function") else ""


def _role(item: dict[str, Any], role: str) -> str:
    said = item.get("role") or _EVENT_ROLES.get(str(item.get(EVENT_NAME, ""))) or _langchain_type(item)
    said = text_of(said) if said else role
    said = _ROLES.get(said, said.lower())
    return said if said in _CHAT_ROLES else role


def _message(item: dict[str, Any], role: str) -> Message | None:
    kind = item.get("type")
    if kind == "function_call_output":
        role = "tool"
    elif kind in ("function_call", "reasoning"):
        role = "assistant"
    role = _role(item, role)
    parts = list(_content_parts(item, role))
    parts.extend(part for call in _calls(item) for part in _call(call))
    if not parts:
        return None
    return Message(role, tuple(parts), text_of(item.get("id")) if isinstance(item.get("id"), str) else "")


def _content_parts(item: dict[str, Any], role: str) -> Iterator[Part]:
    if item.get("type") in _PART_KINDS:
        yield from _parts(item)
        return
    content = item.get("parts")
    if content is None:
        content = item.get("contents") or item.get("content")
    if isinstance(content, str) and content[:1] in ("[", "{", '"'):
        content = _opened(content)
    if role == "tool" and not _holds_results(content):
        yield _tool_message(item, content)
        return
    for piece in content if isinstance(content, list) else [content]:
        yield from _parts(piece)


def _opened(content: str) -> Value:
    """Blocks sent as JSON text (Strands, Traceloop); text that only looks like JSON stays what was said."""
    found = json_or_none(content)
    if isinstance(found, str):
        return found
    if isinstance(found, list) and found and all(isinstance(block, dict) and _is_block(block) for block in found):
        return found
    return content


def _holds_results(content: Value) -> bool:
    return isinstance(content, list) and any(
        isinstance(piece, dict)
        and (piece.get("type") in _RESULTS or "toolResult" in piece or "functionResponse" in piece)
        for piece in content
    )


def _tool_message(item: dict[str, Any], content: Value) -> Part:
    found = result_of(content if content is not None else item.get("output", item.get("result")))
    call_id = item.get("tool_call_id") or item.get("id") or item.get("tool_use_id") or item.get("toolCallId")
    tool = item.get("name") or item.get("tool_name") or item.get("toolName")
    failed = found.failed or item.get("status") == "error" or item.get("is_error") is True
    return _result_part(found, text_of(call_id) or found.call_id, text_of(tool) or found.tool, failed)


def _result_part(found: Found, call_id: str, tool: str, failed: bool) -> Part:
    failed = failed or says_failed(found.value) or reads_failed(found.value)
    return Part("tool_result", call_id=call_id, tool=tool, value=found.value, error=failed)


def _calls(item: dict[str, Any]) -> Iterator[dict[str, Any]]:
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


def _call(call: dict[str, Any]) -> Iterator[Part]:
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


def _parts(piece: Value) -> Iterator[Part]:
    """The parts of one block of content."""
    if isinstance(piece, str):
        if piece.strip() and not is_withheld(piece):
            yield Part("text", piece)
        return
    if not isinstance(piece, dict):
        return
    if isinstance(piece.get("message_content"), dict):
        piece = {**piece, **piece["message_content"]}
    kind = piece.get("type")
    read = _PART_KINDS.get(kind) if isinstance(kind, str) else None
    if read is not None:
        yield from read(piece)
        return
    for key, reader in _UNTYPED.items():
        if key in piece:
            yield from reader(piece)
            return
    if piece:
        yield Part("other", text_of(kind) if isinstance(kind, str) else "")


def _is_block(block: dict[str, Any]) -> bool:
    return block.get("type") in _PART_KINDS or any(key in block for key in _UNTYPED) or "message_content" in block


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
        yield from _call(piece["tool_call"])
    elif isinstance(inner, dict):
        yield from _call({"id": piece.get("id"), "name": piece.get("name"), "arguments": inner.get("arguments", inner)})
    else:
        yield from _call(piece)


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
    yield _result_part(found, text_of(call_id) or found.call_id, text_of(tool) or found.tool, failed)


def _bedrock_call(piece: dict[str, Any]) -> Iterator[Part]:
    held = piece["toolUse"]
    if isinstance(held, dict):
        yield from _call(held)


def _bedrock_result(piece: dict[str, Any]) -> Iterator[Part]:
    found = result_of(piece["toolResult"])
    yield _result_part(found, found.call_id, found.tool, found.failed)


def _gemini_call(piece: dict[str, Any]) -> Iterator[Part]:
    held = piece.get("functionCall") or piece.get("function_call")
    if isinstance(held, dict):
        yield from _call(held)


def _gemini_result(piece: dict[str, Any]) -> Iterator[Part]:
    held = piece.get("functionResponse") or piece.get("function_response")
    if isinstance(held, dict):
        yield from _result_block(held)


_RESULTS: Final = frozenset(
    ["tool_call_response", "tool_result", "tool-result", "function_call_output", "server_tool_call_response"]
)
_RESULT_KEYS: Final = frozenset(["toolResult", "functionResponse", "function_response"])
_Reader = Callable[[dict[str, Any]], Iterator[Part]]
_PART_KINDS: Final[dict[str, _Reader]] = {
    **dict.fromkeys(("text", "output_text", "input_text", "refusal"), _text),
    **dict.fromkeys(("reasoning", "thinking", "redacted_thinking", "reasoning_content"), _reasoning),
    **dict.fromkeys(
        ("tool_call", "tool_use", "tool-call", "function_call", "server_tool_call", "server_tool_use"), _call_part
    ),
    **dict.fromkeys(_RESULTS, _result_block),
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
