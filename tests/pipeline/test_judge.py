"""A judge, end to end: asked beside grading, through a kill, with its key from the environment only."""

from __future__ import annotations

from pathlib import Path

import httpx

from graders.checks.judge import WAITING
from tests.cli.commands import passhat
from tests.pipeline.test_cases import graded, post, told
from tests.pipeline.test_verdicts_out import CHECKS
from tests.support.judge_stub import FAIL, judge_stub
from tests.support.serving import Serving, until

JUDGE = {"id": "kind", "kind": "judge", "criterion": "The agent is kind."}


def said(serving: Serving, run_id: str) -> tuple[str, str]:
    (verdict,) = (one for one in told(serving, run_id, "i17")["verdicts"] if one["check_id"] == "kind")
    assert verdict["calibration"] == "unknown"
    return (verdict["status"], verdict["reason"])


def test_a_judge_answers_after_a_kill_and_moves_no_result(tmp_path: Path) -> None:
    with judge_stub() as model:
        model.says = lambda _: FAIL
        model.hold.clear()
        judge = {"url": model.url, "model": "m-2026-01", "api_key": "${JUDGE_KEY}", "timeout_s": 20}
        config = {"checks": [*CHECKS, JUDGE], "judge": judge}
        serving = Serving(tmp_path, config, {"JUDGE_KEY": "very-secret"})
        with serving:
            post(serving, "I17", "i17")
            runs = graded(serving, "i17", 3)
            results = {run["run_id"]: run["result"] for run in runs}
            assert {said(serving, run) for run in results} == {("unknown", WAITING)}
            until(lambda: model.asked, bool)
            serving.kill()
        model.hold.set()
        with serving:
            for run in results:
                assert until(lambda run=run: said(serving, run), lambda got: got[1] != WAITING) == (
                    "fail",
                    "It does not.",
                )  # type: ignore[misc]
            assert {run["run_id"]: run["result"] for run in graded(serving, "i17", 3)} == results
            assert len(model.asked) <= 4  # each once, and at most one again
            assert {one.headers["authorization"] for one in model.asked} == {"Bearer very-secret"}
            metrics = httpx.get(f"http://{serving.web}/metrics", timeout=30).text
            assert 'passhat_judge_questions_total{result="answered"}' in metrics
            assert serving.get("/api/v1/status")["outward"]["judge"] == {"waiting": 0, "held": "", "error": ""}
            server = ("--server", f"http://{serving.web}")
            shown = passhat("show", next(iter(results)), "--project", "i17", *server, cwd=tmp_path)
            assert "how often it is right is not known" in " ".join(shown.stdout.split())
            judges = passhat("checks", "judges", *server, cwd=tmp_path)
            assert judges.stdout.splitlines()[-1].split()[:6] == ["kind", "i17", "yes", "m-2026-01", "3", "0"]
        told_of = passhat(
            "config", "--config", str(serving.config_file), cwd=tmp_path, env={"JUDGE_KEY": "very-secret"}
        )
        assert "judge.api_key" in told_of.stdout
        assert "very-secret" not in told_of.stdout + serving.log.read_text()
