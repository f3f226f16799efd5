"""Changed checks: tried before they go live, acting only by a regrade, history kept."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from tests.pipeline.test_cases import graded, post, reliability
from tests.support.serving import QUICK, ROOT, Serving

FIRST = [{"id": "path", "kind": "order", "tools": ["get_order", "refund"], "gate": True}]
SECOND = [{"id": "no-refund", "kind": "absence", "of": "call.tool == 'refund'", "gate": True}]


def passhat(serving: Serving, *words: str, code: int = 0) -> Any:
    command = [sys.executable, "-m", "collector", *words, "--json"]
    env = {**os.environ, "PASSHAT_SERVER": f"http://{serving.web}"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=env, timeout=120)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def configure(serving: Serving, checks: list[dict[str, Any]]) -> None:
    written = yaml.safe_load(serving.config_file.read_text())
    serving.config_file.write_text(yaml.safe_dump({**written, "checks": checks}))


def results(serving: Serving) -> dict[str, str]:
    return {run["trial_id"]: run["result"] for run in graded(serving, "i17", 3)}


def test_changed_checks_act_by_regrade_and_keep_history(tmp_path: Path) -> None:
    serving = Serving(tmp_path, {"checks": FIRST, **QUICK})
    tried = tmp_path / "tried.yaml"
    tried.write_text(yaml.safe_dump({"checks": SECOND}))
    with serving:
        post(serving, "I17", "i17")
        before = results(serving)
        assert before == {"trial-1": "pass", "trial-2": "fail", "trial-3": "pass"}
        said = passhat(serving, "checks", "test", str(tried), code=1)
        assert said["runs"] == 3
        assert results(serving) == before
        (tally,) = said["checks"]
        after = {one["run_id"]: one["after"] for one in said["changed"]}
        assert tally["counts"]["fail"] == sum(result == "fail" for result in after.values())
        assert passhat(serving, "checks", "test", str(tried), "--until", "2020-01-01T00:00:00Z")["runs"] == 0
        assert passhat(serving, "regrade")["runs"] == 0
        assert serving.stop() == 0

    configure(serving, SECOND)
    with serving:
        assert results(serving) == before
        assert serving.get("/api/v1/regrade")["runs"] == 3
        told = passhat(serving, "regrade", "--task", "refund-order")
        assert (told["runs"], told["graded"], told["left"]) == (3, 3, 0)
        now = results(serving)
        assert now != before
        assert {run["run_id"]: run["result"] for run in graded(serving, "i17", 3) if run["run_id"] in after} == after
        versions = {task["checks_version"] for task in reliability(serving, "i17", "1")["tasks"]}
        assert len(versions) == 1
        assert serving.stop() == 0
    sql = "SELECT check_id, count() AS n FROM passhat.verdicts FINAL GROUP BY check_id ORDER BY check_id"
    assert {row["check_id"]: int(row["n"]) for row in serving.query(sql)} == {"no-refund": 3, "path": 3}


def test_programs_are_not_run_over_the_api(tmp_path: Path) -> None:
    with Serving(tmp_path) as serving:
        tried = tmp_path / "tried.yaml"
        tried.write_text(yaml.safe_dump({"checks": [{"id": "x", "kind": "command", "command": ["touch", "x"]}]}))
        command = [sys.executable, "-m", "collector", "checks", "test", str(tried), "--server", f"http://{serving.web}"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=120)
        assert done.returncode == 2
        assert "not over the API" in done.stderr
        assert not (ROOT / "x").exists()
