"""Help is quick and the same everywhere: golden text, and nothing heavy imported for it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.commands import ROOT, environment, passhat

GOLDEN = Path(__file__).parent / "golden"
COMMANDS = [
    "",
    "serve",
    "demo",
    "ingest",
    "runs",
    "show",
    "report",
    "gate",
    "plan",
    "outcome",
    "freeze",
    "regrade",
    "delete",
    "mine",
    "export",
    "status",
    "doctor",
    "config",
    "query",
    "checks",
    "checks list",
    "checks validate",
    "checks test",
    "checks judges",
    "dashboards",
    "dashboards export",
]
HEAVY = ("chdb", "clickhouse_connect", "fastapi", "starlette", "uvicorn", "grpc", "httpx",
         "google.protobuf", "opentelemetry", "pyarrow", "rich", "yaml", "cel_expr_python", "tree_sitter",
         "jinja2", "prometheus_client")  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_the_golden_text(command: str, tmp_path: Path) -> None:
    """UPDATE_GOLDEN=1 writes the texts anew."""
    done = passhat(*command.split(), "--help", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    golden = GOLDEN / f"{command.replace(' ', '-') or 'passhat'}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(done.stdout)
    assert done.stdout == golden.read_text()


# pydantic is not among them: typer itself takes it to read the options of one command.
@pytest.mark.parametrize("arguments", [["--help"], ["runs", "--help"], ["--version"]])
def test_help_imports_nothing_heavy(arguments: list[str], tmp_path: Path) -> None:
    code = (
        "import sys; sys.argv = ['passhat', *sys.argv[1:]]\n"
        "from collector.cli import main\n"
        "try: main()\n"
        "finally: print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=tmp_path, env=environment()
    )
    loaded = set(done.stderr.split())
    assert "collector.cli" in loaded
    assert not [name for name in HEAVY if name in loaded]


def test_every_command_is_in_the_help_and_in_the_docs() -> None:
    docs = (ROOT / "docs" / "commands.md").read_text()
    told = (GOLDEN / "passhat.txt").read_text()
    for command in {name.split()[0] for name in COMMANDS if name}:
        assert f"passhat {command}" in docs
        assert f"\n  {command}" in told


def test_no_command_is_usage(tmp_path: Path) -> None:
    done = passhat(cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("Usage: passhat")
