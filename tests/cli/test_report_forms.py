"""JUnit and SARIF of a report: every run once, failing checks with lines and fix, hostile names harmless."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

from tests.cli.commands import here
from tests.cli.conftest import HOSTILE, MATRIX
from tests.cli.test_reading import DAY

ILLEGAL = {chr(code) for code in range(32)} - {"\n"}


def written(data: Path, folder: Path, *arguments: str) -> tuple[ElementTree.Element, Any]:
    junit, sarif = folder / "junit.xml", folder / "passhat.sarif"
    done = here("report", *arguments, *DAY, "--data", str(data), "--junit", str(junit), "--sarif", str(sarif))
    assert done.returncode == 0, done.stderr
    assert not ILLEGAL & set(junit.read_text())
    log = json.loads(sarif.read_text())
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    return ElementTree.parse(junit).getroot(), run


def test_each_run_is_a_test_case(data: Path, tmp_path: Path) -> None:
    junit, sarif = written(data, tmp_path, "--class", "matrix")
    suites = {suite.get("name"): suite for suite in junit}
    assert set(suites) == set(MATRIX)
    assert {name: suite.get("tests") for name, suite in suites.items()} == {k: str(len(v)) for k, v in MATRIX.items()}
    flaky = suites["flaky-cache"]
    assert [flaky.get(name) for name in ("failures", "errors", "skipped")] == ["2", "1", "1"]
    assert [case[0].tag if len(case) else "" for case in flaky] == ["failure", "failure", "", "error", "skipped"]
    assert [junit.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["20", "9", "1", "1"]
    assert sarif["results"] == []


def test_a_failing_check_names_run_lines_and_kind(data: Path, tmp_path: Path) -> None:
    junit, sarif = written(data, tmp_path, "invoice")
    (case,) = junit.iter("testcase")
    assert (case.get("classname"), case.get("name")) == ("invoice version 2", "told")
    assert case[0].get("message") == "row missing"
    text = case[0].text or ""
    assert text.splitlines() == [
        "tests-after-last-edit: fail: No test run after line 2. (line 2)",
        "broken: error [advisory]: The check broke.",
    ]
    first, second = sarif["results"]
    assert [one["level"] for one in (first, second)] == ["error", "warning"]
    place = first["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("passhat/default/told", 2)
    rules = sarif["tool"]["driver"]["rules"]
    assert [rules[one["ruleIndex"]]["id"] for one in (first, second)] == ["tests-after-last-edit", "broken"]


def test_hostile_names_are_text(data: Path, tmp_path: Path) -> None:
    junit, sarif = written(data, tmp_path, "--project", "hostile")
    assert len(list(junit.iter("testcase"))) == len(HOSTILE)
    uris = [one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in sarif["results"]]
    assert {unquote(uri.removeprefix("passhat/hostile/")) for uri in uris} == set(HOSTILE)


def test_a_place_that_cannot_be_written_is_the_callers_fault(data: Path, tmp_path: Path) -> None:
    done = here("report", *DAY, "--data", str(data), "--junit", str(tmp_path / "none" / "x.xml"))
    assert done.returncode == 2
    assert "No such file or directory" in done.stderr
