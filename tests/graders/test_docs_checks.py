"""docs/checks.md says what there is, and its examples do what it says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from graders import CheckSet
from graders.call import BUILT_IN_TAGS
from graders.checks import EXTERNAL_KINDS, KINDS
from graders.checks.spec import COMMON_KEYS
from graders.fields import CALL_FIELDS, RUN_FIELDS
from graders.library import LIBRARY
from graders.python_checks import checks_in
from semconv.run import Run
from semconv.trace_line import TraceLine
from tests.graders.runs import Script

PAGE = (Path(__file__).parents[2] / "docs" / "checks.md").read_text()
SECTIONS = dict(re.findall(r"^### ([\w-]+)\n(.*?)(?=^### |\Z)", PAGE.split("## The library")[1], re.M | re.S))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


def run_of(text: str, flags: tuple[str, ...]) -> Run:
    lines = [TraceLine(**{"n": at, **json.loads(line)}) for at, line in enumerate(text.splitlines(), start=1)]
    return Run("p", "r", tuple(lines), closed_by="root", root_status="ok", flags=flags)


@pytest.mark.parametrize("name", list(LIBRARY))
def test_a_check_of_the_library_does_what_its_examples_say(name: str) -> None:
    section = SECTIONS[name]
    (_, settings), (_, fails), (_, passes) = BLOCK.findall(section)
    checks = CheckSet.compile(yaml.safe_load(settings)["checks"])
    flagged = ("shared_workspace",) if "in a run flagged" in section else ()
    (bad,) = checks.grade(run_of(fails, flagged))
    (good,) = checks.grade(run_of(passes, ()))
    assert (bad.status, good.status) == ("fail", "pass"), (bad.reason, good.reason)


def test_every_check_of_the_library_is_documented_and_no_other() -> None:
    assert sorted(SECTIONS) == sorted(LIBRARY)


@pytest.mark.parametrize(
    "words",
    [KINDS, EXTERNAL_KINDS, COMMON_KEYS, CALL_FIELDS, RUN_FIELDS, BUILT_IN_TAGS],
    ids=lambda words: str(len(words)),
)
def test_every_kind_key_field_and_tag_is_documented(words: Any) -> None:
    assert [word for word in words if f"`{word}`" not in PAGE] == []


def test_the_settings_of_the_page_compile() -> None:
    settings = [yaml.safe_load(text) for language, text in BLOCK.findall(PAGE) if language == "yaml"]
    assert len(settings) > len(LIBRARY)
    for one in settings:
        CheckSet.compile(one["checks"], one.get("tags"), one.get("actions"))


def test_the_python_check_of_the_page_works() -> None:
    (source,) = [text for language, text in BLOCK.findall(PAGE) if language == "python"]
    namespace: dict[str, Any] = {"__name__": "mine"}
    exec(compile(source, "mine", "exec"), namespace)
    checks = CheckSet.compile(checks_in(namespace, source))
    few, many = Script().call("search"), Script().call("search").call("search").call("search")
    (passed,), (failed,) = checks.grade(few.run()), checks.grade(many.run())
    assert (passed.status, failed.status, failed.lines) == ("pass", "fail", (1, 2, 3))
    assert failed.gate
