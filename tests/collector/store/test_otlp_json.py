"""Values that no typed column holds come back as they were."""

from __future__ import annotations

import json
import math

from hypothesis import given
from hypothesis import strategies as st

from collector.store.otlp_json import (
    events_text,
    links_text,
    of_events_text,
    of_links_text,
    of_resource_text,
    of_scope_text,
    of_value_text,
    resource_text,
    scope_text,
    value_text,
)
from semconv.span import Event, Link, Resource, Scope

text = st.text(alphabet=st.characters(exclude_categories=("Cs",)))
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | text | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=20,
)
attributes = st.dictionaries(text, values, max_size=4)


def same(left: object, right: object) -> bool:
    """Equal, and of equal types all the way down: 1, 1.0 and True are three values, -0.0 is not 0.0."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(same(a, b) for a, b in zip(left, right, strict=True))
    if isinstance(left, float) and isinstance(right, float):
        return math.copysign(1, left) == math.copysign(1, right) and left == right
    return left == right


@given(values)
def test_any_value_comes_back_with_its_type(value: object) -> None:
    assert same(of_value_text(value_text(value)), value)


@given(values)
def test_the_text_is_strict_json(value: object) -> None:
    def refuse(name: str) -> None:
        raise AssertionError(name)

    json.loads(value_text(value), parse_constant=refuse)


def test_nan_and_infinities_come_back() -> None:
    assert math.isnan(of_value_text(value_text(math.nan)))
    assert of_value_text(value_text([math.inf, -math.inf])) == [math.inf, -math.inf]


def test_a_value_nested_a_hundred_levels_comes_back() -> None:
    value: object = "deep"
    for _ in range(100):
        value = [value]
    assert of_value_text(value_text(value)) == value


@given(attributes, text, st.integers(0, 2**32 - 1))
def test_resource_scope_events_and_links_come_back(some: dict[str, object], word: str, count: int) -> None:
    resource = Resource(some, word, count)
    scope = Scope(word, word, word, some, count)
    events = (Event(word, 2**64 - 1, some, count), Event("", 0, {}))
    links = (Link("a" * 32, "b" * 16, word, some, count, count),)
    assert of_resource_text(resource_text(resource)) == resource
    assert of_scope_text(scope_text(scope)) == scope
    assert of_events_text(events_text(events)) == events
    assert of_links_text(links_text(links)) == links
    assert events_text(()) == links_text(()) == ""
