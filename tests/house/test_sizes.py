"""Files one can read in a sitting, functions one can read at a glance, and a sentence on each public thing."""

from __future__ import annotations

import ast
import statistics
from functools import cache
from pathlib import Path
from typing import TypeGuard

from tests.house.source_tree import PACKAGES, ROOT, Function, arguments, files, functions, length, tree_of

MOST_LINES = 400
MOST_TEST_LINES = 500  # a test file mirrors a module, and there is more test than code
MOST_FUNCTION_LINES = 40
P90_FUNCTION_LINES = 25
MOST_ARGUMENTS = 5
SELF_EVIDENT_LINES = 5  # a function as short as this may be told by its name,
SELF_EVIDENT_METHOD_LINES = 15  # and a method by its name and what its class says

# Each with the reason why it is better long.
LONG_FILES: dict[str, str] = {}
LONG_FUNCTIONS: dict[str, str] = {
    "collector/metrics.py:Metrics.__init__": "a table: one metric a line",
}
# Parameters that are a form's fields: options of a command, query parameters of a call.
# `Receiver.__init__`: given once, by name. `judge`: the six things the contract's rule of a trial speaks of.
MANY_ARGUMENTS = ("collector/cli/", "collector/receive/otlp.py:Receiver.__init__", "graders/trial.py:judge")
# The tree at the top of the file says what each of them is.
DRAWN_ELSEWHERE = ("collector/errors.py",)


def test_files_are_short() -> None:
    lines = {str(path): len((ROOT / path).read_text().splitlines()) for path in files(*PACKAGES, "tests", "bench")}
    wrong = {path: n for path, n in lines.items() if n > (MOST_TEST_LINES if path.startswith("tests/") else MOST_LINES)}
    assert {path: n for path, n in wrong.items() if path not in LONG_FILES} == {}
    assert set(LONG_FILES) - set(wrong) == set(), "no longer an exception"


def test_functions_are_short() -> None:
    lines = {f"{path}:{name}": length(node) for path in files(*PACKAGES) for name, node in functions(path)}
    assert {name: n for name, n in lines.items() if n > MOST_FUNCTION_LINES and name not in LONG_FUNCTIONS} == {}
    assert {name for name in LONG_FUNCTIONS if lines.get(name, 0) <= MOST_FUNCTION_LINES} == set()
    assert statistics.quantiles(lines.values(), n=10)[-1] <= P90_FUNCTION_LINES


def test_functions_take_few_arguments() -> None:
    wrong = {
        f"{path}:{name}": arguments(node)
        for path in files(*PACKAGES)
        for name, node in functions(path)
        if arguments(node) > MOST_ARGUMENTS and not f"{path}:{name}".startswith(MANY_ARGUMENTS)
    }
    assert wrong == {}


def test_public_things_say_what_they_are() -> None:
    wrong = [f"{path}: {name}" for path in files(*PACKAGES) for name in undocumented(path)]
    assert wrong == []


def undocumented(path: Path) -> list[str]:
    tree = tree_of(path)
    missing = [] if ast.get_docstring(tree) or not tree.body else ["the module"]
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            if not ast.get_docstring(node) and str(path) not in DRAWN_ELSEWHERE:
                missing.append(node.name)
            # What a subclass answers to is said once, where it is declared.
            declared = told_methods() if node.bases else set()
            methods = [inner for inner in node.body if needs_words(inner, SELF_EVIDENT_METHOD_LINES)]
            missing += [f"{node.name}.{method.name}" for method in methods if method.name not in declared]
        elif needs_words(node, SELF_EVIDENT_LINES):
            missing.append(node.name)
    return missing


@cache
def told_methods() -> set[str]:
    """Names of documented methods anywhere, and the library methods that subclasses override."""
    classes = [node for path in files(*PACKAGES) for node in ast.walk(tree_of(path)) if isinstance(node, ast.ClassDef)]
    methods = [inner for node in classes for inner in node.body if isinstance(inner, Function)]
    return {method.name for method in methods if ast.get_docstring(method)} | {"format", "export", "convert", "render"}


def needs_words(node: ast.AST, lines: int) -> TypeGuard[Function]:
    return (
        isinstance(node, Function)
        and not node.name.startswith("_")
        and not ast.get_docstring(node)
        and length(node) > lines
    )
