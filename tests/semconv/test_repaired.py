"""A value that the receiver cut is a loss: what was cut off proves nothing by its absence."""

from __future__ import annotations

import pytest

from semconv.resolve import facts_of
from semconv.span import Resource, Scope, Span
from semconv.words import Words


@pytest.mark.parametrize(
    ("mark", "lossy"),
    [
        (["truncated attributes.gen_ai.tool.call.result (9000000 bytes)"], ("truncated",)),
        (["invalid_unicode attributes.x", "truncated events[0].attributes.y (9 bytes)"], ("truncated",)),
        (["invalid_unicode attributes.x"], ()),
        ([], ()),
        ("truncated", ()),
        ([1, None], ()),
    ],
)
def test_a_truncation_mark_makes_the_span_lossy(mark: object, lossy: tuple[str, ...]) -> None:
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t", "passhat.repaired": mark}
    span = Span("a" * 32, "b" * 16, "", "t", 1, 1, 2, 0, "", attributes, (), (), Resource({}), Scope())
    assert facts_of(span, Words()).lossy == lossy
