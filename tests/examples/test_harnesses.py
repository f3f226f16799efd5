"""Each example as its reader would run it: its own packages, a stub of a model, a real passhat. `make examples`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.examples.stub_model import stub_model
from tests.support.serving import ROOT, Serving, until

EXAMPLES = ROOT / "examples"
INSTALL_S = 240
VENVS = os.environ.get("PASSHAT_EXAMPLE_VENVS")  # where environments are kept between runs
asked_for = pytest.mark.skipif(
    not os.environ.get("PASSHAT_EXAMPLES"), reason="installs the packages of other harnesses: run `make examples`"
)


def packages(example: Path) -> list[str]:
    """What the example says is to be installed."""
    command = re.search(r"(?:pip|npm) install ((?:.*\\\n)*.*)", example.read_text())
    assert command
    words = command[1].replace("\\\n", " ").split()
    return [word.strip("'") for word in words if word not in ("//", "#")]


def install(example: Path, command: list[str | Path], folder: Path) -> None:
    """Install the example's packages; skips when they do not."""
    try:
        done = subprocess.run(
            [*command, *packages(example)], capture_output=True, text=True, timeout=INSTALL_S, cwd=folder
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"the packages of {example.name} did not install in {INSTALL_S} s")
    if done.returncode:
        pytest.skip(f"the packages of {example.name} do not install here: {done.stderr.strip()[-300:]}")


def python_with(example: Path, folder: Path) -> list[str | Path]:
    """The example in an environment of its own."""
    venv = folder / example.stem
    python = venv / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True, timeout=60)
        install(example, [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"], folder)
    return [python, example]


def node_with(example: Path, folder: Path) -> list[str | Path]:
    """A copy of the example beside its packages: Node looks for them where the script is."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        pytest.skip("Node.js is not here")
    project = folder / example.stem
    if not (project / "node_modules" / "ai").exists():
        project.mkdir(parents=True, exist_ok=True)
        install(example, [npm, "install", "--no-audit", "--no-fund"], project)
    return [node, shutil.copy(example, project)]


@asked_for
@pytest.mark.parametrize(
    "name", ["pydantic_ai_agent.py", "openai_agents_agent.py", "langgraph_agent.py", "vercel_ai_sdk.mjs"]
)
def test_two_trials_of_one_task_arrive(name: str, tmp_path: Path) -> None:
    example = EXAMPLES / name
    made = python_with if example.suffix == ".py" else node_with
    command = made(example, Path(VENVS) if VENVS else tmp_path)
    with stub_model() as model, Serving(tmp_path / "serve") as serving:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": model,
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://{serving.http}",
            "OTEL_RESOURCE_ATTRIBUTES": "service.name=orders,passhat.experiment.id=e1",
            "OPENAI_AGENTS_DISABLE_TRACING": "0",
        }
        done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=120)
        assert done.returncode == 0, done.stderr[-3000:]
        runs = until(lambda: serving.get("/api/v1/runs")["runs"], lambda runs: len(runs) == 2)
        assert {(run["task_id"], run["task_source"]) for run in runs} == {("where-is-my-order", "attribute")}
        assert sorted(run["trial_id"] for run in runs) == ["0", "1"]
        assert {run["outcome"] for run in runs} == {"pass"}
        lines = serving.get(f"/api/v1/runs/{runs[0]['run_id']}")["lines"]
        calls = [(line["tool"], line["input"]) for line in lines if line["role"] == "assistant" and line.get("tool")]
        assert calls == [("get_order", {"order_id": "A1"})]
        assert [line["output"] for line in lines if line["role"] == "tool"] == ["order A1: shipped"]
        assert "Where is order A1?" in [line.get("text") for line in lines if line["role"] == "user"]
        assert serving.stop() == 0


def test_every_example_is_in_the_readme() -> None:
    readme = (EXAMPLES / "README.md").read_text()
    for file in EXAMPLES.iterdir():
        if file.suffix == ".mjs" or file.stem.endswith("_agent"):
            assert f"({file.name})" in readme
