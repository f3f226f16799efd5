"""Text that harnesses wrap values in, back to values: JSON, JSON in JSON, Python literals, cut text, placeholders.

Only parsing, never evaluation. Whatever cannot be decoded stays as it is and says so in its state.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from semconv.trace_line import InputState
from semconv.values import JsonValue, Value

MAX_DEPTH: Final = 64  # deeper JSON stays text: records are encoded again by code that recurses
MAX_LITERAL: Final = 131_072  # characters of a Python literal worth handing to ast
MAX_LAYERS: Final = 3  # JSON in JSON in JSON

_UNDECODED: Final = object()
_NOT_FINITE: Final = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
_decode_json = msgspec.json.Decoder().decode

# What SDKs and collectors write where content was withheld: not captured, which is not empty.
_WITHHELD: Final = re.compile(
    r"\s*(?:[<\[(*_]{1,3}\s*(?:redacted|hidden|filtered|scrubbed(?: due to [^\]]*)?|masked|elided|"
    r"content (?:not captured|redacted)|not serializable)\s*[>\])*_]{1,3}|\*{3,})\s*",
    re.IGNORECASE,
)
_OPENERS: Final = frozenset("<[(*_")
_CUT_MARK: Final = re.compile(
    r"(?:\.\.\.|…)?\s*[\[(<]?\s*(?:\.\.\.\s*)?(?:\d+ (?:more )?(?:characters|chars|bytes) )?(?:truncated|TRUNCATED)"
    r"[^\n\])>]{0,40}[\])>]?\s*$"
)
# A Python literal token by token: nothing else reaches ast, which an expression deep enough could exhaust.
_LITERAL: Final = re.compile(
    r"""(?:[{}\[\](),:\s]++|b?'(?:[^'\\\n]|\\.)*+'|b?"(?:[^"\\\n]|\\.)*+"|True|False|None"""
    r"""|-?\d[\d_]*+(?:\.\d*+)?(?:[eE][-+]?\d++)?)*+""",
    re.DOTALL,
)
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|[{}\[\]"]', re.DOTALL)


def is_withheld(text: str) -> bool:
    """True for a placeholder such as `<REDACTED>` or `__REDACTED__` in place of content."""
    return len(text) <= 80 and text.lstrip()[:1] in _OPENERS and _WITHHELD.fullmatch(text) is not None


def is_cut(text: str) -> bool:
    """True for JSON or a Python literal that stops in the middle, or text that ends in a truncation mark."""
    if _CUT_MARK.search(text, max(0, len(text) - 120)):
        return True
    depth = 0
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token in "{[":
            depth += 1
        elif token in "}]":
            depth -= 1
        elif token == '"':
            return True
        if depth == 0 and token in "}]":
            return False
    return depth > 0


def json_or_none(text: str) -> JsonValue:
    """The value of JSON text, None where it is not JSON (or is `null`)."""
    value = _json(text)
    return None if value is _UNDECODED else value


def literal_or_none(text: str, start: int = 0) -> JsonValue:
    """The Python literal that begins at `start`, whatever follows it; None where none does."""
    if text[start : start + 1] not in ("{", "["):
        return None
    depth = 0
    for match in _TOKEN.finditer(text, start, start + MAX_LITERAL):
        token = match.group()
        depth += (token in "{[") - (token in "}]")
        if depth == 0:
            value = _literal(text[start : match.end()])
            return None if value is _UNDECODED else value
    return None


def arguments(value: Value) -> tuple[JsonValue, InputState]:
    """The arguments of a call and how they were found; text stays text where it is no object."""
    if value is None:
        return None, "not_captured"
    if isinstance(value, str):
        return _text_arguments(value)
    if isinstance(value, dict):
        return plain(value), "object"
    if isinstance(value, list):
        inner = _from_messages(value)
        return inner if inner else (json_text(value), "text")
    if isinstance(value, bytes):
        return _text_arguments(value.decode("utf-8", "replace"))
    return json_text(value), "text"


def _text_arguments(text: str) -> tuple[JsonValue, InputState]:
    first = text[:1]
    if first == "{":  # the common case, before anything is stripped or copied
        found = _json(text)
        if isinstance(found, dict):
            return found, "object"
    stripped = text.strip()
    if not stripped:
        return None, "empty"
    if is_withheld(stripped):
        return None, "not_captured"
    if stripped[0] not in '{["(':
        return text, "truncated" if _CUT_MARK.search(text, max(0, len(text) - 120)) else "text"
    found, state = _unwrapped_text(stripped)
    return (text, state) if found is stripped else (found, state)  # what stays text stays as it was sent


def _unwrapped_text(text: str) -> tuple[JsonValue, InputState]:
    """Text that looks encoded: more layers of JSON, a message list, a Python literal, or one of these cut off."""
    value: JsonValue = text
    for layer in range(MAX_LAYERS):
        found = _json(value)
        if isinstance(found, dict):
            return found, "object" if layer == 0 else "decoded"
        if isinstance(found, list):
            return _from_messages(found) or (value, "text")
        if not isinstance(found, str):
            break
        value = found
    literal = _literal(value)
    if isinstance(literal, dict):
        return literal, "decoded"
    if isinstance(literal, list):
        return _from_messages(literal) or (value, "text")
    if not value.strip():
        return None, "empty"
    return value, "truncated" if value[0] in '{["(' and is_cut(value) else "text"


def _from_messages(items: list[Any]) -> tuple[JsonValue, InputState] | None:
    """Arguments sent as a list of chat messages (strands): the content of the tool message, else of the last."""
    if not items or not all(isinstance(item, dict) and "role" in item for item in items):
        return None
    chosen = next((item for item in items if item["role"] == "tool"), items[-1])
    content = chosen.get("content", chosen.get("arguments"))
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        content = content[0].get("text", content[0].get("content", content))
    inner, state = arguments(content) if not isinstance(content, list) else (None, "text")
    return (inner, "from_messages") if state in ("object", "decoded") else None


def result(value: Value) -> JsonValue:
    """A tool's result: JSON objects and lists as values, other text as text; None only where nothing was captured."""
    if isinstance(value, str):
        first = value[:1]
        if first and first in "{[ \n\t":
            found = _json(value)
            return found if isinstance(found, dict | list) else value
        if first == '"':
            found = _json(value)  # encoded once more than needed (Traceloop decorators)
            return result(found) if isinstance(found, str) else value
        return None if first and first in "<[_*(" and is_withheld(value) else value
    return plain(value)


def unwrapped(value: JsonValue, keys: Iterable[str]) -> JsonValue:
    """The arguments inside a wrapper such as `{"args": [], "kwargs": {…}}`; unchanged where there is none."""
    if not isinstance(value, dict):
        return value
    for key in keys:
        inner = value.get(key)
        if isinstance(inner, dict) or (isinstance(inner, str) and inner[:1] in ("{", "[", '"') and inner):
            return inner
    return value


def json_text(value: JsonValue) -> str:
    """Compact JSON of a value, or the text itself."""
    return value if isinstance(value, str) else msgspec.json.encode(plain(value)).decode()


def text_of(value: Value) -> str:
    """A name or an id as text, '' where there is none; JSON quotes around it are taken off (MLflow)."""
    if isinstance(value, str):
        if value[:1] == '"' and value[-1:] == '"' and len(value) > 1:
            inner = _json(value)
            return inner if isinstance(inner, str) else value
        return value
    if value is None:
        return ""
    return json_text(value)


def number_of(value: Value) -> float | None:
    """A number, also one sent as text; None where it is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value if math.isfinite(value) else None
    if isinstance(value, str) and len(value) <= 40:
        try:
            number = float(value)
        except ValueError:
            return None
        return number if math.isfinite(number) else None
    return None


def count_of(value: Value) -> int | None:
    """A count of tokens or turns; None where it is none, or negative."""
    if type(value) is int:
        return value if 0 <= value < 1 << 63 else None
    number = number_of(value)
    return int(number) if number is not None and 0 <= number < 1 << 53 else None


def plain(value: Value, depth: int = 0) -> JsonValue:
    """JSON-safe: bytes and non-finite numbers become text, tuples and sets lists, keys strings."""
    kind = type(value)
    if kind is str or kind is int or kind is bool or value is None:
        return value
    if kind is float:
        return value if math.isfinite(value) else _NOT_FINITE.get(str(value), str(value))
    if depth >= MAX_DEPTH:
        return "…"
    if kind is dict:
        return {key if type(key) is str else str(key): plain(item, depth + 1) for key, item in value.items()}
    if kind is list or kind is tuple:
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, set | frozenset):
        return [plain(item, depth + 1) for item in sorted(value, key=repr)]
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return str(value)


def _json(text: str) -> Any:
    """The value of JSON text, `_UNDECODED` where it is not JSON or too deep."""
    try:
        value = _decode_json(text)
    except msgspec.ValidationError:
        return _lenient_json(text)
    except msgspec.DecodeError:
        return _lenient_json(text) if "NaN" in text or "Infinity" in text or "\\ud" in text.lower() else _UNDECODED
    except RecursionError:
        return _UNDECODED
    if text.count("{") + text.count("[") > MAX_DEPTH and _deeper_than(value, MAX_DEPTH):
        return _UNDECODED
    return value


def _lenient_json(text: str) -> Any:
    """Python's own dialect of JSON (NaN, Infinity, 1e999, lone surrogates), made safe."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _UNDECODED
    if _deeper_than(value, MAX_DEPTH):
        return _UNDECODED
    return _without_surrogates(plain(value))


def _without_surrogates(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return value


def _deeper_than(value: Value, limit: int) -> bool:
    level: list[Any] = [value]
    for _ in range(limit):
        level = [
            inner
            for item in level
            if isinstance(item, dict | list | tuple)
            for inner in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return False
    return True


def _literal(text: str) -> Any:
    """The value of a Python literal such as a printed dict, parsed and never evaluated; `_UNDECODED` else."""
    if len(text) > MAX_LITERAL or text[:1] not in ("{", "[") or _LITERAL.fullmatch(text) is None:
        return _UNDECODED
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return _UNDECODED
    return _UNDECODED if _deeper_than(value, MAX_DEPTH) else _without_surrogates(plain(value))
