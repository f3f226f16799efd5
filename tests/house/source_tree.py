"""The project's own Python files, parsed: what the house rules are checked on."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("semconv", "graders", "collector")

Function = ast.FunctionDef | ast.AsyncFunctionDef


def files(*folders: str) -> list[Path]:
    """Python files below the folders, relative to the repository."""
    found = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    return sorted(path.relative_to(ROOT) for path in found if "__pycache__" not in path.parts)


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse((ROOT / path).read_text(), filename=str(path))


def imports(path: Path) -> set[str]:
    """Every module a file imports, wherever in the file, with its full dotted name."""
    found: set[str] = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add("." * node.level + (node.module or ""))
    return found


def functions(path: Path) -> Iterator[tuple[str, Function]]:
    """Every function and method with its dotted name inside the file."""

    def walk(node: ast.AST, prefix: str) -> Iterator[tuple[str, Function]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, Function):
                yield prefix + child.name, child
                yield from walk(child, f"{prefix}{child.name}.")
            elif isinstance(child, ast.ClassDef):
                yield from walk(child, f"{prefix}{child.name}.")
            else:
                yield from walk(child, prefix)

    return walk(tree_of(path), "")


def length(node: Function) -> int:
    """Lines of a function, its docstring and decorators left out."""
    first = node.body[0]
    documented = ast.get_docstring(node, clean=False) is not None
    doc = (first.end_lineno or 0) - first.lineno + 1 if documented else 0
    return (node.end_lineno or 0) - node.lineno + 1 - doc


def arguments(node: Function) -> int:
    """Arguments of a function, self and cls left out."""
    names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    return len([name for name in names if name not in ("self", "cls")])
