"""docs/conformance.md is the table of these tests: every item is there, with the tests that carry it, all passed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.conformance.items import ELSEWHERE, ITEMS

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "conformance.md"


def carried() -> dict[int, set[str]]:
    """Items and the tests marked with them, read from the source."""
    found: dict[int, set[str]] = {number: set() for number in ITEMS}
    for file in HERE.glob("test_*.py"):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.FunctionDef):
                for number in _numbers(node):
                    found[number].add(f"{file.stem}::{node.name}")
    return found


def _numbers(function: ast.FunctionDef) -> Iterator[int]:
    for mark in function.decorator_list:
        if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.item":
            yield from (ast.literal_eval(argument) for argument in mark.args)


def rows() -> dict[int, tuple[str, str]]:
    cells = [line.strip("|").split(" | ") for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    return {int(c[0]): (c[3], c[4].strip()) for c in cells if c[0].strip().isdigit()}


def test_every_item_is_carried_by_a_test_or_says_where_else() -> None:
    assert {number for number, tests in carried().items() if not tests} == set(ELSEWHERE)


def test_elsewhere_is_a_file_that_is_there() -> None:
    named = [name for text in ELSEWHERE.values() for name in text.replace("`", "").split(", ")]
    assert [name for name in named if not (HERE.parents[1] / name).is_file()] == []


def test_the_page_is_up_to_date() -> None:
    shown = rows()
    assert set(shown) == set(ITEMS)
    for number, tests in carried().items():
        where, result = shown[number]
        assert (set(where.replace("`", "").split(", ")) if tests else set()) == tests, (
            f"item {number}: write the table anew"
        )
        assert tests or where == ELSEWHERE[number]
        assert result == ("pass" if tests else ""), f"item {number}"
