"""When two JSON values are the same: what `repeats`, `same` and `per` compare."""

from __future__ import annotations

from typing import Any

from semconv.values import JsonValue

Key = Any  # hashable, equal exactly when the values are


def key_of(value: JsonValue) -> Key:
    """A hashable stand-in for a JSON value: numbers by value (0 = 0.0), 100 is not '100', true is not 1."""
    kind = type(value)
    if kind is str or value is None:
        return value
    if kind is bool:
        return ("bool", value)
    if kind is int or kind is float:
        return ("number", value)
    if kind is dict:
        return ("object", frozenset((name, key_of(item)) for name, item in value.items()))
    if kind is list or kind is tuple:
        return ("array", tuple(key_of(item) for item in value))
    return (kind.__name__, repr(value))


def same_value(a: JsonValue, b: JsonValue) -> bool:
    """Whether two JSON values are equal, by value and type."""
    return bool(key_of(a) == key_of(b))
