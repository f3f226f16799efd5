"""docs/dialects.md says what the code does: every dialect, every source, and an example that runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from semconv.dialect import Dialect, Fields, LogRule, Operations, When
from semconv.dialects import BUILT_IN
from semconv.resolve import facts_of
from semconv.sources import KINDS
from semconv.words import Words
from tests.semconv.build import span

DOC = Path(__file__).parent.parent.parent / "docs" / "dialects.md"


def dialects() -> str:
    """The table of built-in dialects, as the docs must have it."""
    rows = ["| dialect | known by | what turns content on |", "|---|---|---|"]
    for dialect, _ in sorted(BUILT_IN, key=lambda one: (one[0].priority, one[0].name)):
        known = ", ".join(_evidence(when) for when in dialect.match)
        rows.append(f"| {dialect.name} | {known} | {dialect.content} |")
    return "\n".join(rows)


def _evidence(when: When) -> str:
    parts = [f"scope `{when.scope}`"] if when.scope else []
    if when.attribute:
        parts.append(f"`{when.attribute}`" + (f" = `{when.equals}`" if when.equals else ""))
    return " and ".join(parts)


def test_the_table_is_that_of_the_code() -> None:
    assert dialects() in DOC.read_text()


def test_every_source_and_key_is_described() -> None:
    text = DOC.read_text()
    assert [kind for kind in KINDS if f"`${kind}" not in text] == []
    for struct in (Dialect, When, Operations, Fields, LogRule):
        assert [key for key in struct.__struct_fields__ if f"`{key}`" not in text] == []


def test_the_example_runs() -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", DOC.read_text(), re.DOTALL)
    definition: dict[str, Any] = yaml.safe_load(example)
    sent = {"acme.step": "tool", "acme.tool": "refund", "acme.data": '{"in": {"order": "A"}, "out": "done", "code": 1}'}
    facts = facts_of(span(sent, scope="acme.agent"), Words(dialects=[definition]))
    assert (facts.dialect, facts.operation, facts.tool) == (definition["name"], "tool", "refund")
    assert (facts.input, facts.output, facts.status) == ({"order": "A"}, "done", "error")
