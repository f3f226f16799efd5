"""Chat messages of any convention to `Message`, told apart by their shape and never by the attribute's name.

Shapes: OTel GenAI parts, OpenAI chat and Responses items, Anthropic and Bedrock blocks, Gemini contents, Vercel AI
SDK parts, LangChain messages (plain, `data`, `kwargs`), OpenInference (flattened), GenAI message events, plain text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from semconv.blocks import result_of
from semconv.decode import arguments, is_withheld, json_or_none, literal_or_none, text_of
from semconv.deltas import joined
from semconv.facts import Message, Part
from semconv.names import EVENT_NAME
from semconv.parts import (
    PART_KINDS,
    RESULT_KEYS,
    RESULTS,
    call_parts,
    calls_in,
    is_block,
    kind_of,
    parts_of,
    result_part,
)
from semconv.values import Value

_ROLES: Final = {
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
    "developer": "system",
    "function": "tool",
    "tool-call": "assistant",
    "tool-response": "tool",
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
_SPEAKERS: Final = frozenset(["role", "type", "kwargs", "lc", "tool_calls", "tool_call_id", "message", "parts"])
_PAIRED: Final = frozenset([*_CHAT_ROLES, "human", "ai"])
_HOLDERS: Final = ("messages", "choices", "candidates", "generations", "contents", "output", "input", "outputs")
MAX_NESTING: Final = 8


def messages_of(value: Value, role: str) -> tuple[Message, ...]:
    """The messages in a value as sent (JSON text, list, map, plain text); `role` where a message says none."""
    if type(value) is list:
        plain_shape = _genai(value)
        if plain_shape is not None:
            return plain_shape
    return tuple(_each(value, role, 0))


def system_of(value: Value) -> tuple[Message, ...]:
    """System instructions: a list of parts, or text."""
    if isinstance(value, str) and value[:1] in ("[", "{", '"'):
        found = json_or_none(value)
        value = value if found is None else found
    if isinstance(value, list) and value and not any(isinstance(item, dict) and "role" in item for item in value):
        parts = tuple(part for item in value for part in parts_of(item))
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


def _genai(items: list[Any]) -> tuple[Message, ...] | None:
    """Messages of nothing but OTel GenAI's own shape, None for any other: the hot path, whole histories long."""
    found: list[Message] = []
    for item in items:
        if type(item) is not dict or "parts" not in item or not item.keys() <= _GENAI_KEYS:
            return None
        role, pieces = item.get("role"), item["parts"]
        if role not in _CHAT_ROLES or type(pieces) is not list or (role == "tool" and not _holds_results(pieces)):
            return None
        parts: list[Part] = []
        for piece in pieces:
            kind = piece.get("type") if type(piece) is dict else None
            if kind == "text" and type(piece.get("content")) is str:
                text = piece["content"]
                if text and not is_withheld(text):
                    parts.append(Part("text", text))
            elif kind == "tool_call" and _is_named(piece):
                value, state = arguments(piece.get("arguments"))
                call_id = piece.get("id", "")
                parts.append(Part("tool_call", call_id=call_id, tool=piece["name"], value=value, input_state=state))
            else:
                parts.extend(parts_of(piece))
        if parts:
            found.append(Message(role, tuple(parts)))
    return tuple(found)


def _is_named(call: dict[str, Any]) -> bool:
    name, call_id = call.get("name"), call.get("id", "")
    return type(name) is str and name != "" and type(call_id) is str


_GENAI_KEYS: Final = frozenset(["role", "parts", "name", "finish_reason"])


def _each(value: Value, role: str, depth: int) -> Iterator[Message]:
    if depth > MAX_NESTING or value is None:
        return
    if isinstance(value, str):
        yield from _from_text(value, role, depth)
    elif isinstance(value, list):
        if len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], str) and value[0] in _PAIRED:
            yield from _from_map({"role": value[0], "content": value[1]}, role, depth + 1)  # LangChain's ("user", "…")
            return
        if value and all(isinstance(item, dict) and _is_bare_block(item) for item in value):
            yield from _from_map({"role": role, "content": value}, role, depth + 1)  # one message's blocks (Strands)
            return
        streamed = joined(value)
        for item in value if streamed is None else streamed:
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
        if not isinstance(held, dict):
            return held
        if event:
            return {"role": "assistant", **held}
        # A flattened message that lost its role to a limit is nobody's words: whose, would be a guess.
        return held if len(item) > 1 or not held.keys().isdisjoint(_SPEAKERS) else None
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


def _is_bare_block(item: dict[str, Any]) -> bool:
    return is_block(item) and not _is_message(item) and "message" not in item


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
        or kind_of(item) in ("function_call", "function_call_output", "reasoning")
    )


def _langchain_type(item: dict[str, Any]) -> str:
    kind = kind_of(item)
    return kind if kind in ("human", "ai", "system", "tool", "function") else ""


def _role(item: dict[str, Any], role: str) -> str:
    said = (
        item.get("role")
        or ("tool" if "tool_call_id" in item else None)
        or _EVENT_ROLES.get(str(item.get(EVENT_NAME, "")))
        or _langchain_type(item)
    )
    said = text_of(said) if said else role
    said = _ROLES.get(said, said.lower())
    return said if said in _CHAT_ROLES else role


def _message(item: dict[str, Any], role: str) -> Message | None:
    kind = kind_of(item)
    if kind == "function_call_output":
        role = "tool"
    elif kind in ("function_call", "reasoning"):
        role = "assistant"
    role = _role(item, role)
    if item.get("role") in ("tool-call", "tool-response"):
        return _printed(item, role)
    parts = list(_content_parts(item, role))
    parts.extend(part for call in calls_in(item) for part in call_parts(call))
    if not parts:
        return None
    return Message(role, tuple(parts), text_of(item.get("id")) if isinstance(item.get("id"), str) else "")


def _printed(item: dict[str, Any], role: str) -> Message | None:
    """smolagents' own roles: the calls as a printed list, and an observation that says not whose result it is."""
    if role == "tool":
        return Message(role, (Part("other", "observation"),))
    text = "\n".join(part.text for part in _content_parts(item, role))
    calls = literal_or_none(text, text.find("[")) if "[" in text else None
    found = [part for call in calls if isinstance(call, dict) for part in call_parts(call)] if calls else []
    return Message(role, tuple(found)) if found else None


def _content_parts(item: dict[str, Any], role: str) -> Iterator[Part]:
    if kind_of(item) in PART_KINDS:
        yield from parts_of(item)
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
        yield from parts_of(piece)


def _opened(content: str) -> Value:
    """Blocks sent as JSON text (Strands, Traceloop); text that only looks like JSON stays what was said."""
    found = json_or_none(content)
    if isinstance(found, str):
        return found
    if isinstance(found, list) and found and all(isinstance(block, dict) and is_block(block) for block in found):
        return found
    return content


def _holds_results(content: Value) -> bool:
    return isinstance(content, list) and any(
        isinstance(piece, dict) and (kind_of(piece) in RESULTS or not piece.keys().isdisjoint(RESULT_KEYS))
        for piece in content
    )


def _tool_message(item: dict[str, Any], content: Value) -> Part:
    found = result_of(content if content is not None else item.get("output", item.get("result")))
    call_id = item.get("tool_call_id") or item.get("id") or item.get("tool_use_id") or item.get("toolCallId")
    tool = item.get("name") or item.get("tool_name") or item.get("toolName")
    failed = found.failed or item.get("status") == "error" or item.get("is_error") is True
    return result_part(found, text_of(call_id) or found.call_id, text_of(tool) or found.tool, failed)
