"""What is left of messages without their content: roles, names and ids, and a mark for each text."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What makes a map a message or a part of one.
MESSAGE = _words(
    "role parts tool_calls toolCalls tool_call toolCall functionCall function_call functionResponse function_response"
    " toolUse toolResult callId"
)
# What makes it the result of a call, whose texts are no speech.
RESULT = _words("tool_call_id toolCallId tool_use_id toolUseId functionResponse function_response toolResult")
RESULT_ROLES = _words("tool function")
RESULT_TYPES = _words("tool tool_result tool_call_response function_call_output tool-result tool_response")
# Names of its parts: those that say what it is, those that hold more of them, those that hold what was said.
STRUCTURE = _words(
    """
    role type kind name tool tool_name toolName tool_call_name id tool_call_id toolCallId call_id callId tool_use_id
    tool_id toolId toolUseId message_id finish_reason finishReason finish_reasons stop_reason status model model_name
    is_error isError index agent agent_name event.name thread_id session_id
    prompt_id
    """
)
CONTAINERS = _words(
    """
    parts content contents message messages tool_calls toolCalls tool_call toolCall function functionCall function_call
    functionResponse function_response toolUse toolResult tool_use tool_result choices delta candidates generations
    output outputs input inputs kwargs additional_kwargs response_metadata response data
    """
)
ENVELOPES = _words("parts content functionResponse function_response toolResult tool_result message kwargs")
NAMES_CALL = RESULT | _words("id name callId call_id parts")
SPOKEN = _words("content text thinking reasoning refusal prompt completion body")
USAGE = _words("usage usage_metadata usageMetadata token_usage tokenUsage models_usage usage_details")
MOST_CHARS = 256
MOST_DEPTH = 32


class Skeleton:
    """Prunes JSON and attribute values down to their structure."""

    def __init__(self, mark: Callable[[str], str]) -> None:
        self.mark = mark

    def keeps(self, value: Any) -> bool:
        """Leaves of an AnyValue what is structure; False, and nothing done, where that is nothing."""
        which = value.WhichOneof("value")
        if which == "string_value":
            kept = self._of_text(value.string_value)
            if kept:
                value.string_value = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
            return bool(kept)
        if which in ("array_value", "kvlist_value"):
            kept = self.of(_plain(value))
            if kept:
                value.CopyFrom(_any_value(type(value), kept))
            return bool(kept)
        return False

    def counts(self, value: Any) -> bool:
        """Leaves of JSON text its numbers, ids and names: what a dialect reads such as usage from."""
        try:
            kept = _numbers(json.loads(value.string_value), STRUCTURE)
        except (ValueError, RecursionError):
            return False
        if kept:
            value.string_value = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
        return bool(kept)

    def _of_text(self, text: str) -> Any:
        if text[:1] not in ("{", "["):
            return None
        try:
            return self.of(json.loads(text))
        except (ValueError, RecursionError):
            return None

    def of(self, value: Any, inside: bool = False, spoken: bool = True, depth: int = 0) -> Any:
        """The structure of a value; empty where there is none. `inside` a message, whose texts are `spoken`."""
        if depth > MOST_DEPTH:
            return None
        if isinstance(value, list):
            kept = [self.of(item, inside, spoken, depth + 1) for item in value]
            return [item for item in kept if item]
        if isinstance(value, dict):
            return self._map(value, inside, spoken, depth)
        return self.mark(value) if inside and spoken and isinstance(value, str) and value else None

    def _map(self, value: dict[str, Any], inside: bool, spoken: bool, depth: int) -> dict[str, Any]:
        inside = inside or not MESSAGE.isdisjoint(value)
        if not RESULT.isdisjoint(value) or _is(value, "role", RESULT_ROLES) or _is(value, "type", RESULT_TYPES):
            spoken = False
        found: dict[str, Any] = {}
        for key, item in value.items():
            kept: Any = None
            if key in USAGE:
                kept = _numbers(item)
            elif isinstance(item, dict | list):
                kept = (
                    self.of(item, inside, spoken, depth + 1) if key in (CONTAINERS if spoken else ENVELOPES) else None
                )
            elif inside and key in STRUCTURE:
                kept = item if not isinstance(item, str) or len(item) <= MOST_CHARS else None
            elif inside and spoken and key in SPOKEN and isinstance(item, str):
                kept = self._of_text(item) or (self.mark(item) if item else item)
            if kept is not None and kept != {} and kept != []:
                found[key] = kept
        # Inside a result only what names its call is structure: `{"status": "delivered"}` is what a tool said.
        return found if spoken or not inside or not NAMES_CALL.isdisjoint(found) or "role" in found else {}


def _is(value: dict[str, Any], key: str, words: frozenset[str]) -> bool:
    said = value.get(key)
    return isinstance(said, str) and said in words


def _numbers(value: Any, names: frozenset[str] = frozenset()) -> Any:
    """Numbers, however they are nested, and the texts of these names."""
    if not isinstance(value, dict):
        return value if isinstance(value, int | float) else None
    found = {}
    for key, item in value.items():
        kept = item if key in names and isinstance(item, str) and len(item) <= MOST_CHARS else _numbers(item, names)
        if kept is not None and kept != {}:
            found[key] = kept
    return found


def _plain(value: Any) -> Any:
    which = value.WhichOneof("value")
    if which == "array_value":
        return [_plain(item) for item in value.array_value.values]
    if which == "kvlist_value":
        return {pair.key: _plain(pair.value) for pair in value.kvlist_value.values}
    return getattr(value, which) if which else None


def _any_value(kind: Any, value: Any) -> Any:
    made = kind()
    if isinstance(value, list):
        made.array_value.values.extend(_any_value(kind, item) for item in value)
    elif isinstance(value, dict):
        for key, item in value.items():
            pair = made.kvlist_value.values.add()
            pair.key = key
            pair.value.CopyFrom(_any_value(kind, item))
    elif isinstance(value, bool):
        made.bool_value = value
    elif isinstance(value, int):
        made.int_value = value
    elif isinstance(value, float):
        made.double_value = value
    elif isinstance(value, str):
        made.string_value = value
    return made
