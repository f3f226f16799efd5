"""What must not be in the repository."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.house.source_tree import ROOT

# Paths of one machine, addresses of package registries, and words of a forge's merge conflicts.
FORBIDDEN = re.compile(
    r"/(work|root)/|/home/[a-z]+/(?!user\b)|(pypi|npmjs|registry)\.(org|io|com)|files\.pythonhosted|"
    r"index-url|find-links|trusted-host|^(<{7}|>{7}) ",
    re.MULTILINE,
)
UNWANTED_FILES = re.compile(
    r"(^|/)(__pycache__|\.DS_Store|\.idea|\.vscode|\.mypy_cache|passhat-data)(/|$)|\.(pyc|orig|rej|swp)$"
)
# Recorded or reported by others, kept byte for byte; and the two places that spell the forbidden words out.
AS_RECEIVED = ("tests/captures/", "tests/cases/", "tests/house/test_tree.py")
LARGEST_BYTES = 2 << 20


@pytest.fixture(scope="module")
def tracked() -> list[str]:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout: what is tracked is unknown")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True)
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_no_path_of_a_machine_and_no_registry_is_named(tracked: list[str]) -> None:
    found = {name: match[0] for name in tracked if not name.startswith(AS_RECEIVED) and (match := forbidden_in(name))}
    assert found == {}


def forbidden_in(name: str) -> re.Match[str] | None:
    try:
        return FORBIDDEN.search((ROOT / name).read_text())
    except UnicodeDecodeError:
        return None


def test_no_left_overs_and_nothing_large(tracked: list[str]) -> None:
    assert [name for name in tracked if UNWANTED_FILES.search(name)] == []
    assert [name for name in tracked if (ROOT / name).stat().st_size > LARGEST_BYTES] == []


def test_constraints_pin_exact_versions_and_nothing_else() -> None:
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.]*", line)] == []
    assert len(lines) == len({line.split("==")[0].lower().replace("_", "-") for line in lines})


def test_each_dependency_has_its_reason_and_its_pin() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    block = text.split("\ndependencies = [\n")[1].split("\n]")[0]
    lines = [line for line in block.splitlines() if line.strip().startswith('"')]
    assert [line for line in lines if not re.search(r'",\s+# \w', line)] == []
    pinned = {
        line.split("==")[0].lower().replace("_", "-") for line in Path(ROOT / "constraints.txt").read_text().split()
    }
    names = {match[0].lower() for line in lines if (match := re.search(r"(?<=\")[A-Za-z0-9-]+", line))}
    assert len(names) > 20
    assert names - pinned == set()
