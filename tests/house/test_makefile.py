"""The Makefile: its help is complete, a missing Python is said plainly, and set-up is not repeated."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.house.source_tree import ROOT

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with what set-up looks at, and no environment."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def make(folder: Path, *arguments: str, path: str = "") -> subprocess.CompletedProcess[str]:
    # Without the variables of the make that may run these tests.
    env = {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS"))}
    env["PATH"] = path or env["PATH"]
    executable = shutil.which("make") or "make"
    return subprocess.run([executable, *arguments], cwd=folder, env=env, capture_output=True, text=True, timeout=60)


def tools(folder: Path, *names: str) -> str:
    """A PATH with only these programs."""
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    for name in ("sh", "rm", "touch", *names):
        found = shutil.which(name)
        assert found
        (bin_folder / name).symlink_to(found)
    return str(bin_folder)


def test_help_lists_every_target(folder: Path) -> None:
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.M)
    assert phony
    said = make(folder, "help").stdout
    assert set(re.findall(r"make (\w+)", said)) == set(phony[1].split())
    assert make(folder).stdout == said, "help is the default"


def test_without_a_python_it_says_so(folder: Path) -> None:
    done = make(folder, "demo", path=tools(folder))
    assert done.returncode != 0
    assert "passhat needs Python 3.11 or newer" in done.stderr
    assert not (folder / ".venv").exists()


def test_a_python_that_is_too_old_is_passed_over(folder: Path) -> None:
    path = tools(folder)
    old = Path(path) / "python3"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    assert "passhat needs Python 3.11 or newer" in make(folder, "demo", path=path).stderr


def test_set_up_is_skipped_until_something_changes(folder: Path) -> None:
    environment = folder / ".venv"
    (environment / "bin").mkdir(parents=True)
    (environment / "bin" / "python").touch()
    (environment / ".set-up").touch()
    plan = make(folder, "--dry-run", "demo").stdout
    assert "pip" not in plan
    assert "passhat demo" in plan
    later = (environment / ".set-up").stat().st_mtime + 10
    os.utime(folder / "constraints.txt", (later, later))
    assert "pip install" in make(folder, "--dry-run", "demo").stdout
