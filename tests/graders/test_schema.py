"""The part of JSON Schema that `schema` knows; what it does not know is refused."""

from __future__ import annotations

from typing import Any

import pytest

from graders import CheckError
from graders.schema import check_schema, schema_error

ROWS: list[tuple[Any, Any, str]] = [
    ({}, {"a": 1}, ""),
    (True, 3, ""),
    (False, 3, "it is not allowed"),
    ({"type": "object"}, [], "it is no object"),
    ({"type": ["string", "null"]}, None, ""),
    ({"type": ["string", "null"]}, 3, "it is no string or null"),
    ({"type": "integer"}, 3.0, ""),
    ({"type": "integer"}, 3.5, "it is no integer"),
    ({"type": "integer"}, True, "it is no integer"),
    ({"type": "number"}, True, "it is no number"),
    ({"type": "boolean"}, 1, "it is no boolean"),
    ({"enum": ["a", 1]}, 1.0, ""),
    ({"enum": ["a", 1]}, "1", "it is none of a, 1"),
    ({"const": {"a": [1]}}, {"a": [1.0]}, ""),
    ({"required": ["a"]}, {"b": 1}, "a is missing"),
    ({"required": ["a"]}, "no object", ""),
    ({"properties": {"a": {"type": "string"}}}, {"a": 3}, "a is no string"),
    ({"properties": {"a": {"properties": {"b": {"const": 1}}}}}, {"a": {"b": 2}}, "a.b is not 1"),
    ({"properties": {"a": {}}, "additionalProperties": False}, {"a": 1, "b": 2}, "b is not allowed"),
    ({"additionalProperties": {"type": "number"}}, {"b": "x"}, "b is no number"),
    ({"items": {"type": "string"}}, ["a", 1], "[1] is no string"),
    ({"minItems": 2}, [1], "it has 1, minItems is 2"),
    ({"maxItems": 0}, [], ""),
    ({"minLength": 2}, "a", "it has 1, minLength is 2"),
    ({"minLength": 2}, [1], ""),
    ({"maxLength": 2}, "abc", "it has 3, maxLength is 2"),
    ({"pattern": "^A-"}, "A-17", ""),
    ({"pattern": "^A-"}, "B-17", "it does not match ^A-"),
    ({"minimum": 3}, 3, ""),
    ({"minimum": 3}, 2, "it is 2, minimum is 3"),
    ({"exclusiveMaximum": 3}, 3, "it is 3, exclusiveMaximum is 3"),
    ({"multipleOf": 5}, 12, "it is 12, multipleOf is 5"),
    ({"maximum": 3}, "9", ""),
    ({"anyOf": [{"type": "string"}, {"minimum": 3}]}, 2, "it does not fit anyOf"),
    ({"oneOf": [{"minimum": 1}, {"minimum": 2}]}, 3, "it does not fit oneOf"),
    ({"oneOf": [{"minimum": 1}, {"minimum": 5}]}, 3, ""),
    ({"allOf": [{"minimum": 1}, {"maximum": 2}]}, 3, "it is 3, maximum is 2"),
    ({"not": {"type": "string"}}, "x", "it is what it must not be"),
]


@pytest.mark.parametrize(("schema", "value", "error"), ROWS)
def test_a_value_and_a_schema(schema: Any, value: Any, error: str) -> None:
    check_schema(schema)
    assert schema_error(value, schema) == error


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ([], "a schema is an object, not []"),
        ({"require": ["a"]}, "the schema word 'require' is not known; did you mean 'required'?"),
        ({"properties": {"a": {"typ": "x"}}}, "the schema word 'typ' is not known; did you mean 'type'? (at a)"),
        ({"type": "str"}, "there is no type 'str'; did you mean 'string'?"),
        ({"pattern": "("}, "invalid regular expression: missing ), unterminated subpattern at position 0"),
        ({"anyOf": [{"$ref": "#/x"}]}, "the schema word '$ref' is not known (at anyOf)"),
    ],
)
def test_a_schema_is_refused(schema: Any, problem: str) -> None:
    with pytest.raises(CheckError) as caught:
        check_schema(schema)
    assert str(caught.value) == problem


def test_notes_are_no_rules() -> None:
    check_schema({"title": "x", "description": "x", "default": 1, "examples": [1], "format": "email", "$schema": "x"})
