"""When two arguments are the same: as JSON values, with 900.0 and 900 one number and keys in any order."""

from __future__ import annotations

import msgspec

from semconv.trace_line import InputState
from semconv.values import JsonValue

MAX_DEPTH = 60  # nested deeper, a value is compared as it prints

# How much is known of a call's arguments, best first: two reports of one call keep the better.
_RANK: dict[InputState, int] = {
    "object": 0,
    "decoded": 1,
    "from_messages": 2,
    "text": 3,
    "empty": 4,
    "truncated": 5,
    "not_captured": 6,
    "": 7,
}


def canonical(value: JsonValue) -> str:
    """Text that is equal for equal values."""
    if isinstance(value, str):
        return "s:" + value
    return msgspec.json.encode(_plain(value, MAX_DEPTH), order="sorted").decode()


def _plain(value: JsonValue, depth: int) -> JsonValue:
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, dict):
        return {key: _plain(item, depth - 1) for key, item in value.items()} if depth else repr(value)
    if isinstance(value, list):
        return [_plain(item, depth - 1) for item in value] if depth else repr(value)
    return value


def has_input(state: InputState) -> bool:
    """Whether the arguments are there to compare: an empty object is, what was not captured or cut is not."""
    return state not in ("", "not_captured", "truncated")


def better_state(state: InputState, other: InputState) -> bool:
    """Whether arguments in `state` say more than those in `other`."""
    return _RANK[state] < _RANK[other]


def same_input(value: JsonValue, state: InputState, other: JsonValue, other_state: InputState) -> bool:
    """Whether two reports can be of one call: equal arguments, or one that does not tell."""
    if not has_input(state) or not has_input(other_state):
        return True
    return bool(value == other) or canonical(value) == canonical(other)
