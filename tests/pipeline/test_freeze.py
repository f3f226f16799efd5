"""Frozen runs: what arrives later is kept, their results do not move until they are let go."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx

from tests.pipeline.test_cases import graded, post, told
from tests.pipeline.test_verdicts_out import CHECKS
from tests.support.serving import Serving, until


def ask(serving: Serving, path: str, body: Any) -> httpx.Response:
    return httpx.post(f"http://{serving.web}/api/v1/{path}", json=body, timeout=30)


def test_a_frozen_result_moves_only_when_it_is_let_go(tmp_path: Path) -> None:
    with Serving(tmp_path, {"checks": CHECKS}) as serving:
        post(serving, "I17", "i17")
        runs = graded(serving, "i17", 3)
        frozen, free = (run["run_id"] for run in runs if run["result"] == "pass")
        assert ask(serving, "freeze", {"project": "i17", "runs": [frozen]}).json()["frozen"] is True
        said = [{"project": "i17", "run_id": run, "result": "fail", "source": "human"} for run in (frozen, free)]
        assert ask(serving, "outcomes", said).status_code == 200
        until(lambda: told(serving, free, "i17")["run"]["result"], lambda result: result == "fail")
        serving.drained()
        kept = told(serving, frozen, "i17")
        assert (kept["run"]["result"], kept["run"]["revision"], kept["outcomes"][0]["result"]) == ("pass", 1, "fail")
        metrics = httpx.get(f"http://{serving.web}/metrics", timeout=30).text
        assert float(metrics.split("\npasshat_late_after_freeze_total ")[1].split()[0]) >= 1
        assert ask(serving, "freeze", {"project": "i17", "runs": [frozen], "frozen": False}).status_code == 200
        until(lambda: told(serving, frozen, "i17")["run"]["result"], lambda result: result == "fail")
        unknown = ask(serving, "freeze", {"project": "i17", "runs": ["nobody"]})
        assert unknown.status_code == 404
