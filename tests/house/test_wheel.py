"""The wheel as people install it: built, put into a fresh environment, used from another folder."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from tests.house.source_tree import ROOT

OURS = {"collector", "semconv", "graders"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*command, "--wheel-dir", str(folder), str(ROOT)], check=True, cwd=folder)
    (built,) = folder.glob("passhat-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of an environment with the wheel, beside packages called `docker` and `queries`.

    The dependencies are those of this environment, reached by a path file: no network, and no second copy.
    """
    home = tmp_path_factory.mktemp("installed")
    venv.create(home, with_pip=False, symlinks=True)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(home), "platbase": str(home)}))
    pip = [sys.executable, "-m", "pip", "--python", str(home / "bin/python"), "install", "--quiet", "--no-deps"]
    subprocess.run([*pip, "--no-index", str(wheel)], check=True, cwd=home)
    for name in ("docker", "queries"):
        (site / name).mkdir()
        (site / name / "__init__.py").write_text(f"NAME = 'the real {name}'\n")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return home / "bin"


def run(installed: Path, *command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "HOME": str(cwd)}
    return subprocess.run(
        [str(installed / command[0]), *command[1:]], cwd=cwd, env=env, capture_output=True, text=True, timeout=120
    )


def test_the_source_distribution_holds_all_that_tests_and_docs_need() -> None:
    told = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    sources = [path for path in ROOT.iterdir() if path.is_dir() and any(path.glob("*.*"))]
    needed = {f"/{path.name}" for path in sources if not path.name.startswith((".", "_", "build", "dist"))}
    assert needed - set(told) == set()


def test_the_wheel_holds_three_packages_the_sql_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {f"{package}/py.typed" for package in OURS} <= set(names), "its types are for those who import graders"
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == OURS
    assert [name for name in names if "__pycache__" in name or name.endswith((".pyc", ".sqltest"))] == []
    assert [name for name in names if "/tests/" in name or name.startswith(("tests", "bench"))] == []
    assert [name for name in names if name.startswith("collector/_queries/") and name.endswith(".py")] == []
    shipped = {name.removeprefix("collector/_queries/") for name in names if name.startswith("collector/_queries/")}
    sql = {str(path.relative_to(ROOT / "queries")) for path in (ROOT / "queries").rglob("*.sql")}
    assert sql
    assert sql <= shipped


def test_the_wheel_holds_every_data_file_of_the_packages(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    tracked = {
        str(path.relative_to(ROOT))
        for package in OURS
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert tracked - names == set()


def test_commands_run_outside_the_repository(installed: Path, tmp_path: Path) -> None:
    help_text = run(installed, "passhat", "--help", cwd=tmp_path)
    assert help_text.returncode == 0, help_text.stderr
    for verb in ("serve", "demo", "report", "runs", "show"):
        assert verb in help_text.stdout
    config = run(installed, "passhat", "config", "--json", cwd=tmp_path)
    assert config.returncode == 0, config.stderr
    assert str(tmp_path / "passhat-data") in config.stdout


def test_the_installed_code_is_the_wheels_and_other_names_stay_others(installed: Path, tmp_path: Path) -> None:
    program = (
        "import collector, semconv, graders, docker, queries\n"
        "print(collector.__file__, semconv.__file__, graders.__file__, sep='\\n')\n"
        "print(docker.NAME, queries.NAME)\n"
    )
    # From the repository's own folder: even there `docker` and `queries` must stay the installed ones.
    for folder in (tmp_path, ROOT):
        done = run(
            installed,
            "python",
            "-c",
            program.replace("import c", "import sys; sys.path.pop(0)\nimport c", 1),
            cwd=folder,
        )
        assert done.returncode == 0, done.stderr
        *paths, names = done.stdout.splitlines()
        assert all(path.startswith(str(installed.parent)) for path in paths), paths
        assert names == "the real docker the real queries"
    shadow = run(installed, "python", "-c", "import docker, queries\nprint(docker.NAME, queries.NAME)", cwd=ROOT)
    assert shadow.stdout.strip() == "the real docker the real queries", shadow.stderr


def test_the_installed_wheel_finds_its_sql(installed: Path, tmp_path: Path) -> None:
    program = (
        "from pathlib import Path\n"
        "import collector\n"
        "folder = Path(collector.__file__).parent / '_queries'\n"
        "print(len(list(folder.rglob('*.sql'))))\n"
    )
    done = run(installed, "python", "-c", program, cwd=tmp_path)
    assert int(done.stdout) > 0, done.stderr
