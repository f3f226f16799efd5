"""What a tool answered, out of the wrappers frameworks put around it (content blocks, MCP, ToolMessage, ToolOutput)."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from semconv.decode import result
from semconv.values import JsonValue, Value

_BLOCK_KEYS: Final = frozenset(
    ["type", "text", "content", "annotations", "citations", "cache_control", "meta", "_meta"]
)
_MCP_KEYS: Final = frozenset(
    ["content", "isError", "is_error", "structuredContent", "structured_content", "_meta", "meta", "data"]
)
# Without one of these keys a map is its own value.
_WRAPPED: Final = frozenset(["content", "toolUseId", "data", "kwargs", "blocks", "value", "stdout", "file"])
_FAILED: Final = frozenset(["error", "failed", "failure"])
_VERCEL: Final = frozenset(["text", "json", "error-text", "error-json", "content", "execution-denied"])


class Found(NamedTuple):
    """A result without its wrapper. `value is None` means none was captured; `failed` that the wrapper says so."""

    value: JsonValue
    failed: bool = False
    call_id: str = ""
    tool: str = ""


def result_of(value: Value) -> Found:
    """The answer of a tool from its result as sent: JSON decoded, one framework wrapper taken off."""
    value = result(value)
    if isinstance(value, dict):
        return _from_map(value)
    if isinstance(value, list):
        text = _text_blocks(value)
        return Found(value if text is None else result(text))
    return Found(value)


def says_failed(value: JsonValue) -> bool:
    """True where a result reports a failure itself: `status: error`, `isError`, an `error` and little else."""
    if not isinstance(value, dict):
        return False
    if value.get("isError") is True or value.get("is_error") is True:
        return True
    status = value.get("status")
    if isinstance(status, str) and status.lower() in _FAILED:
        return True
    error = value.get("error")
    return bool(error) and isinstance(error, str | dict) and len(value) <= 3


_ERROR_TEXT: Final = re.compile(
    r"\s*(?:(?:<tool_use_error>|Error\b\s*(?::|executing|invoking|calling|running|code))"
    r"|An error occurred\b|Exit code [1-9]|Traceback \(most recent call last\)"
    r"|[A-Z]\w*(?:Error|Exception)\b\s*[:(])"
)


def reads_failed(value: JsonValue) -> bool:
    """True for a result whose first words are those frameworks put before an error (`Error: …`, `ValueError: …`)."""
    return isinstance(value, str) and _ERROR_TEXT.match(value) is not None


def error_text_of(value: JsonValue) -> str:
    """The words of a failure that a result holds."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        for key in ("error", "message", "error_message", "reason", "detail"):
            said = value.get(key)
            if isinstance(said, dict):
                said = said.get("message")
            if isinstance(said, str) and said:
                return said
    return ""


def _from_map(value: dict[str, Any]) -> Found:
    content = value.get("content")
    if content is None and value.keys().isdisjoint(_WRAPPED):
        return Found(value)
    if "toolUseId" in value or ("status" in value and _is_tool_message(value)):
        return _tool_message(value)
    for wrapper in ("data", "kwargs"):
        inner = value.get(wrapper)
        if isinstance(inner, dict) and "content" in inner and ("tool_call_id" in inner or value.get("type") == "tool"):
            return _tool_message(inner)
    if _is_tool_message(value):
        return _tool_message(value)
    if "blocks" in value and "tool_name" in value:  # LlamaIndex ToolOutput
        text = _text_blocks(value["blocks"])
        inner = result(text) if text is not None else value.get("raw_output")
        return Found(inner, value.get("is_error") is True, tool=str(value["tool_name"]))
    if isinstance(content, list) and value.keys() <= _MCP_KEYS:
        text = _text_blocks(content)
        inner = result(text) if text is not None else content
        return Found(inner, value.get("isError") is True or value.get("is_error") is True)
    if "interrupted" in value and isinstance(value.get("stdout"), str):  # Claude Code's shell
        said = [text for text in (value["stdout"], value.get("stderr")) if isinstance(text, str) and text]
        return Found("\n".join(said))
    file = value.get("file")
    if value.get("type") == "text" and isinstance(file, dict) and isinstance(file.get("content"), str):
        return Found(file["content"])  # and its file read
    kind = value.get("type")
    if isinstance(kind, str) and kind in _VERCEL and value.keys() == {"type", "value"}:
        return Found(result(value["value"]), kind.startswith(("error", "execution-denied")))
    return Found(value)


def _is_tool_message(value: dict[str, Any]) -> bool:
    return "content" in value and ("tool_call_id" in value or (value.get("type") == "tool" and "name" in value))


def _tool_message(value: dict[str, Any]) -> Found:
    content = value.get("content")
    text = _text_blocks(content) if isinstance(content, list) else None
    call_id = value.get("tool_call_id") or value.get("toolUseId")
    tool = value.get("name")
    return Found(
        result(content if text is None else text),
        value.get("status") == "error" or value.get("is_error") is True,
        call_id if isinstance(call_id, str) else "",
        tool if isinstance(tool, str) else "",
    )


def _text_blocks(blocks: Any) -> str | None:
    """The text of a list of text blocks, None where the list is anything else."""
    if not isinstance(blocks, list) or not blocks:
        return None
    texts: list[str] = []
    for block in blocks:
        if not isinstance(block, dict) or not block.keys() <= _BLOCK_KEYS:
            return None
        text = block.get("text", block.get("content") if "type" in block else None)
        if not isinstance(text, str) or block.get("type", "text") not in ("text", "output_text", "input_text"):
            return None
        texts.append(text)
    return "\n".join(texts)
