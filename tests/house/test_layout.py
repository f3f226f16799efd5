"""Which way imports point, and what is pure."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.house.source_tree import PACKAGES, ROOT, files, imports, tree_of

# What each package may import of the others.
MAY_IMPORT = {"semconv": set(), "graders": {"semconv"}, "collector": {"semconv", "graders"}}
NEVER_IMPORTED = ("tests", "bench", "docker", "queries")
IMPURE = {
    "asyncio", "datetime", "io", "os", "pathlib", "random", "secrets", "shutil", "socket", "sqlite3", "subprocess",
    "tempfile", "threading", "time", "urllib", "uuid", "httpx", "requests", "grpc", "chdb", "clickhouse_connect",
}  # fmt: skip
# Commands and the demo start from a person's shell; everything behind them is told by `Config`.
READ_THE_ENVIRONMENT = ("collector/config/", "collector/cli/", "collector/demo/")


def roots(path: Path) -> set[str]:
    return {name.split(".")[0] for name in imports(path)}


@pytest.mark.parametrize("package", PACKAGES)
def test_dependencies_point_one_way(package: str) -> None:
    forbidden = set(PACKAGES) - {package} - MAY_IMPORT[package] | set(NEVER_IMPORTED)
    wrong = {str(path): found for path in files(package) if (found := roots(path) & forbidden)}
    assert wrong == {}


def test_imports_are_absolute() -> None:
    wrong = [str(path) for path in files(*PACKAGES) if any(name.startswith(".") for name in imports(path))]
    assert wrong == []


@pytest.mark.parametrize("package", ["semconv", "graders"])
def test_words_and_verdicts_are_pure(package: str) -> None:
    wrong = {str(path): found for path in files(package) if (found := roots(path) & IMPURE)}
    assert wrong == {}


def test_only_the_configuration_and_the_commands_read_the_environment() -> None:
    wrong = [
        str(path)
        for path in files(*PACKAGES)
        if not str(path).startswith(READ_THE_ENVIRONMENT)
        and any(
            isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv") for node in ast.walk(tree_of(path))
        )
    ]
    assert wrong == []


@pytest.mark.parametrize("folder", ["queries", "docker", "docs"])
def test_text_folders_are_no_packages(folder: str) -> None:
    """`docker` and `queries` are other people's packages: a file here that makes them ours would hide theirs."""
    wrong = [str(path.relative_to(ROOT)) for path in (ROOT / folder).rglob("*.py")]
    assert wrong == []
