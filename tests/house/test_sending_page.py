"""docs/sending.md holds: its Python block, environment and API call are run as they stand against a real collector."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.house.source_tree import ROOT
from tests.support.serving import Serving, until

PAGE = (ROOT / "docs" / "sending.md").read_text()


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with Serving(tmp_path_factory.mktemp("sending")) as serving:
        yield serving


def block(language: str, holding: str) -> str:
    found = [text for text in re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S) if holding in text]
    assert len(found) == 1
    return str(found[0])


def exported() -> dict[str, str]:
    """The variables of the page's shell block."""
    lines = re.findall(r'^export (\w+)="?(.*?)"?$', block("sh", "OTEL_RESOURCE_ATTRIBUTES"), re.M)
    return dict(lines)


def test_the_code_and_the_environment_of_the_page_give_one_named_run(serving: Serving, tmp_path: Path) -> None:
    program = tmp_path / "agent.py"
    program.write_text(block("python", "TracerProvider"))
    env = {key: value for key, value in os.environ.items() if not key.startswith("OTEL_")}
    said = exported()
    assert said["OTEL_EXPORTER_OTLP_ENDPOINT"] == "http://127.0.0.1:4318"
    env |= said | {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://{serving.http}"}
    done = subprocess.run([sys.executable, str(program)], env=env, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")

    run = until(lambda: runs(serving), lambda found: [one["result"] for one in found] == ["pass"])[0]
    assert (run["task_id"], run["trial_id"], run["basis"]) == ("fix-rounding", "3", "outcome")
    assert run["task_class"] == "coding", "from OTEL_RESOURCE_ATTRIBUTES"
    lines = serving.get(f"/api/v1/runs/{run['run_id']}")["lines"]
    assert [line["tool"] for line in lines if line["role"] == "assistant" and line.get("tool")] == ["Edit", "Bash"]


def runs(serving: Serving) -> list[dict[str, Any]]:
    return list(serving.get("/api/v1/runs")["runs"])


def test_the_api_call_of_the_page_is_accepted(serving: Serving) -> None:
    call = block("sh", "/api/v1/outcomes")
    body = re.search(r"-d '(.*?)'", call, re.S)
    assert body
    reply = httpx.post(f"http://{serving.web}/api/v1/outcomes", json=json.loads(body[1]), timeout=30)
    assert reply.is_success, reply.text
