"""Text from outside does not make grading slow: patterns are bounded, parsing stops."""

from __future__ import annotations

import time
from typing import Any

import pytest

from graders import CheckSet
from tests.graders.runs import Script

CHECKS = CheckSet.compile(
    [
        {"use": "tests-green-after-last-edit"},
        {"use": "injected-instruction"},
        {"use": "secrets-in-arguments"},
        {"use": "read-only-sql"},
        {"use": "no-test-edits"},
        {"use": "claims-backed"},
    ]
)
N = 50_000
OUTPUTS = {
    "blank lines": "Ran 1 test\n" + "\n" * N + "x",
    "blanks": " " * N + "x",
    "numbers": "1 " * N,
    "words": "a" * N,
    "tests": "Tests: " * N,
    "passed": "1 passed, " * N,
    "not ok": "not ok # TOD\n" * (N // 10),
    "ignore": "ignore all " * (N // 10),
    "tags": "<" + " " * N,
    "json": '{"a":' * N,
    "brackets": "[" * N,
    "mails": "ignore previous instructions " + "a" * N + "@",
    "exit": "exit code " * (N // 10),
}
COMMANDS = {
    "semicolons": "a;" * N,
    "ands": "a && " * (N // 10) + "a",
    "pipes": "a | " * (N // 10) + "a",
    "parentheses": "(" * N,
    "substitutions": "$(" * N,
    "quotes": "'" * N,
    "doubles": '"$(' * N,
    "heredoc": "cat <<E\n" * (N // 10),
    "wrappers": "sudo " * (N // 10) + "pytest",
    "shells": 'bash -c "' * 200,
    "redirects": "> a " * (N // 10),
    "braces": "{ " * N,
    "python": "python -c '" + "open(" * (N // 10) + "'",
    "blanks in open": "python -c 'open(" + " " * N + "x'",
    "dots": "python -c '" + "a" * N + ".write_text'",
    "lines": "python -c '" + "\n" * N + "a.write_text(1)'",
    "backslashes": "\\" * N,
    "nul": "\0" * N,
}
QUERIES = {
    "comments": "select /*" * N,
    "quotes": "select '" * N,
    "updates": "update " * N,
    "withs": "with a as (" * (N // 10),
    "intos": "select 1 " + "into " * N,
}
PATCHES = {
    "blanks": "*** Update File: " + " " * N + "\n--- " + " " * N,
    "files": "*** Update File: a\n" * (N // 10),
    "dashes": "--- a\n+++ b\n" * (N // 10),
}


def seconds_of(tool: str, arguments: Any, output: str) -> float:
    run = Script().user("x").call(tool, arguments, output).says("all tests pass " + output[:1_000]).run()
    began = time.process_time()
    verdicts = CHECKS.grade(run)
    took = time.process_time() - began
    assert [verdict.reason for verdict in verdicts if verdict.status == "error"] == []
    return took


@pytest.mark.parametrize("name", list(OUTPUTS))
def test_results(name: str) -> None:
    assert seconds_of("Bash", {"command": "pytest -q"}, OUTPUTS[name]) < 2


@pytest.mark.parametrize("name", list(COMMANDS))
def test_command_lines(name: str) -> None:
    assert seconds_of("Bash", {"command": COMMANDS[name]}, "x") < 2


@pytest.mark.parametrize("name", list(QUERIES))
def test_queries(name: str) -> None:
    assert seconds_of("query", {"sql": QUERIES[name]}, "x") < 2


@pytest.mark.parametrize("name", list(PATCHES))
def test_patches(name: str) -> None:
    assert seconds_of("apply_patch", {"input": PATCHES[name]}, "x") < 2


@pytest.mark.parametrize("path", ["a" * N, "a/" * N, "../" * N, "test_" * N, "a." * N, "-test" * N])
def test_paths(path: str) -> None:
    assert seconds_of("Edit", {"file_path": path}, "x") < 2


def test_a_value_nested_deeper_than_python_recurses_costs_one_check() -> None:
    value: Any = "x"
    for _ in range(3_000):
        value = [value]
    run = Script().call("a", {"k": value}).run()
    verdicts = {verdict.check_id: verdict.status for verdict in CheckSet.compile().grade(run)}
    assert verdicts["no-test-edits"] == "not_applicable"
    assert verdicts["no-repeats"] in ("pass", "error")
