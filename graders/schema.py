"""JSON Schema for arguments and results: the part of it that tool definitions use.

type, enum, const, properties, required, additionalProperties, items, minItems, maxItems, minLength, maxLength,
pattern (RE2 or Python syntax alike), minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, anyOf, oneOf,
allOf, not. Other words are refused at start: a rule that is silently skipped would always hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from graders.errors import CheckError, did_you_mean
from graders.values import same_value
from graders.words import words

_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": lambda value: _is_number(value),
    "integer": lambda value: _is_number(value) and float(value).is_integer(),
}
_NOTES = frozenset(
    {"title", "description", "default", "examples", "$schema", "$id", "format", "deprecated", "$comment"}
)
_BOUNDS: dict[str, Callable[[Any, Any], bool]] = {
    "minimum": lambda value, bound: value >= bound,
    "maximum": lambda value, bound: value <= bound,
    "exclusiveMinimum": lambda value, bound: value > bound,
    "exclusiveMaximum": lambda value, bound: value < bound,
    "multipleOf": lambda value, bound: (value / bound) == int(value / bound),
}
_SIZES: dict[str, tuple[type, Callable[[int, int], bool]]] = {
    "minLength": (str, lambda size, bound: size >= bound),
    "maxLength": (str, lambda size, bound: size <= bound),
    "minItems": (list, lambda size, bound: size >= bound),
    "maxItems": (list, lambda size, bound: size <= bound),
}
_KNOWN = words("""type enum const properties required additionalProperties items pattern anyOf oneOf allOf not""") | {
    *_BOUNDS,
    *_SIZES,
}


def check_schema(schema: object, path: str = "") -> None:
    """Raise `CheckError` for a schema that says something this module does not know."""
    if isinstance(schema, bool):
        return
    if not isinstance(schema, Mapping):
        raise CheckError(f"a schema is an object, not {schema!r}{_at(path)}")
    for word, value in schema.items():
        if word not in _KNOWN and word not in _NOTES:
            raise CheckError(f"the schema word '{word}' is not known{did_you_mean(str(word), _KNOWN)}{_at(path)}")
        if word == "type":
            wrong = [name for name in _list(value) if name not in _TYPES]
            if wrong:
                raise CheckError(f"there is no type '{wrong[0]}'{did_you_mean(str(wrong[0]), _TYPES)}{_at(path)}")
        elif word == "pattern":
            _check_pattern(value, path)
        elif word == "properties":
            for name, inner in value.items():
                check_schema(inner, f"{path}.{name}")
        elif word in ("items", "not", "additionalProperties"):
            check_schema(value, f"{path}.{word}")
        elif word in ("anyOf", "oneOf", "allOf"):
            for inner in value:
                check_schema(inner, f"{path}.{word}")


def schema_error(value: Any, schema: Mapping[str, Any] | bool, path: str = "") -> str:
    """The first way in which a value breaks a schema, '' when it keeps it."""
    if isinstance(schema, bool):
        return "" if schema else f"{_name(path)} is not allowed"
    kinds = _list(schema.get("type", []))
    if kinds and not any(_TYPES[kind](value) for kind in kinds):
        return f"{_name(path)} is no {' or '.join(kinds)}"
    if "enum" in schema and not any(same_value(value, one) for one in schema["enum"]):
        return f"{_name(path)} is none of {', '.join(map(str, schema['enum']))}"
    if "const" in schema and not same_value(value, schema["const"]):
        return f"{_name(path)} is not {schema['const']}"
    return _bounds(value, schema, path) or _inside(value, schema, path) or _combined(value, schema, path)


def _bounds(value: Any, schema: Mapping[str, Any], path: str) -> str:
    if _is_number(value):
        for word, holds in _BOUNDS.items():
            if word in schema and not holds(value, schema[word]):
                return f"{_name(path)} is {value}, {word} is {schema[word]}"
    if isinstance(value, str | list):
        for word, (kind, fits) in _SIZES.items():
            if word in schema and isinstance(value, kind) and not fits(len(value), schema[word]):
                return f"{_name(path)} has {len(value)}, {word} is {schema[word]}"
    if "pattern" in schema and isinstance(value, str) and not re.search(schema["pattern"], value):
        return f"{_name(path)} does not match {schema['pattern']}"
    return ""


def _inside(value: Any, schema: Mapping[str, Any], path: str) -> str:
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        for name in schema.get("required", []):
            if name not in value:
                return f"{_name(f'{path}.{name}')} is missing"
        for name, item in value.items():
            rule = properties.get(name, schema.get("additionalProperties", True))
            if error := schema_error(item, rule, f"{path}.{name}"):
                return error
    if isinstance(value, list) and "items" in schema:
        for at, item in enumerate(value):
            if error := schema_error(item, schema["items"], f"{path}[{at}]"):
                return error
    return ""


def _combined(value: Any, schema: Mapping[str, Any], path: str) -> str:
    for inner in schema.get("allOf", []):
        if error := schema_error(value, inner, path):
            return error
    for word in ("anyOf", "oneOf"):
        if word in schema:
            fitting = sum(not schema_error(value, inner, path) for inner in schema[word])
            if fitting == 0 or (word == "oneOf" and fitting > 1):
                return f"{_name(path)} does not fit {word}"
    if "not" in schema and not schema_error(value, schema["not"], path):
        return f"{_name(path)} is what it must not be"
    return ""


def _check_pattern(value: object, path: str) -> None:
    try:
        re.compile(str(value))
    except re.error as error:
        raise CheckError(f"invalid regular expression: {error}{_at(path)}") from None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _name(path: str) -> str:
    return path.lstrip(".") or "it"


def _at(path: str) -> str:
    return f" (at {path.lstrip('.')})" if path else ""
