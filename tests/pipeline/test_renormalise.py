"""A dialect written after the fact: stored spans become calls, verdicts get a new revision, history is kept."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import yaml

from tests.pipeline.test_regrade import passhat
from tests.support.serving import QUICK, ROOT, Serving, until

RUNS = 12
SECOND = 1_000_000_000
BASE_NS = 1_793_000_000 * SECOND
CHECKS = [{"id": "no-refund", "kind": "absence", "of": "call.tool == 'refund'", "gate": True}]
DIALECT = {
    "name": "hermes",
    "match": [{"attribute": "hermes.kind"}],
    "operation": {"attributes": "hermes.kind", "values": {"step": "tool", "session": "agent"}},
    "tool": {"tool": "hermes.tool", "input": "hermes.in", "output": "hermes.out"},
}


def attribute(key: str, value: str) -> dict[str, Any]:
    return {"key": key, "value": {"stringValue": value}}


def body(run: int) -> dict[str, Any]:
    """One run of a harness no dialect knows: a root and a call, of `refund` in every third run."""
    trace, tool = f"{run + 1:032x}", "refund" if run % 3 == 0 else "look"
    root = {
        "traceId": trace, "spanId": f"{1:016x}", "name": "session", "startTimeUnixNano": str(BASE_NS),
        "endTimeUnixNano": str(BASE_NS + 9 * SECOND), "attributes": [attribute("hermes.kind", "session")],
    }  # fmt: skip
    step = {
        "traceId": trace, "spanId": f"{2:016x}", "parentSpanId": f"{1:016x}", "name": "work",
        "startTimeUnixNano": str(BASE_NS + SECOND), "endTimeUnixNano": str(BASE_NS + 2 * SECOND),
        "attributes": [attribute("hermes.kind", "step"), attribute("hermes.tool", tool), attribute("hermes.in", "{}")],
    }  # fmt: skip
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {"name": "h"}, "spans": [root, step]}]}]}


def known(run: int) -> dict[str, Any]:
    """The same run as an emitter that is understood tells it: nothing of it may be graded again."""
    one = json.loads(json.dumps(body(run)).replace("hermes.kind", "x").replace('"traceId": "0', '"traceId": "a'))
    root, step = one["resourceSpans"][0]["scopeSpans"][0]["spans"]
    root["attributes"] = [attribute("gen_ai.operation.name", "invoke_agent")]
    step["attributes"] = [attribute("gen_ai.operation.name", "execute_tool"), attribute("gen_ai.tool.name", "look")]
    return one


def teach(serving: Serving) -> None:
    """Put the dialect into the configuration, as a user would."""
    file = serving.folder / "hermes.yaml"
    file.write_text(yaml.safe_dump(DIALECT))
    written = yaml.safe_load(serving.config_file.read_text())
    serving.config_file.write_text(yaml.safe_dump({**written, "dialects": [str(file)]}))


def sent(tmp_path: Path) -> Serving:
    """A stopped collector that stored runs it did not understand, and one it did."""
    serving = Serving(tmp_path, {"checks": CHECKS, **QUICK})
    with serving:
        for run in range(RUNS):
            assert serving.post_traces(body(run)).status_code == 200
        assert serving.post_traces(known(1)).status_code == 200
        serving.drained()
        until(lambda: serving.get("/api/v1/runs")["runs"], lambda runs: len(runs) == 1)
        assert serving.stop() == 0
    teach(serving)
    return serving


def told(serving: Serving) -> dict[str, str]:
    runs = serving.get("/api/v1/runs", limit=100)["runs"]
    return {run["run_id"]: run["result"] for run in runs}


def counted(serving: Serving) -> dict[str, int]:
    rows = passhat(serving, "query", "SELECT result, toUInt32(count()) AS n FROM trials GROUP BY result")
    return {row["result"]: row["n"] for row in rows}


def expected() -> dict[str, str]:
    return {f"{run + 1:032x}": "fail" if run % 3 == 0 else "pass" for run in range(RUNS)}


def test_a_dialect_added_later_makes_calls_of_stored_spans(tmp_path: Path) -> None:
    serving = sent(tmp_path)
    with serving:
        assert len(told(serving)) == 1
        said = passhat(serving, "regrade", "--renormalise")
        assert (said["seen"], said["changed"]) == (2 * RUNS + 2, 2 * RUNS)
        found = told(serving)
        assert {run: found[run] for run in expected()} == expected()
        assert len(found) == RUNS + 1
        old = serving.get(f"/api/v1/runs/a{2:031x}")
        assert {verdict["revision"] for verdict in old["verdicts"]} == {1}
        lines = serving.get(f"/api/v1/runs/{1:032x}")["lines"]
        assert [line["tool"] for line in lines if line["role"] == "assistant"] == ["refund"]
        again = passhat(serving, "regrade", "--renormalise")
        assert again["changed"] == 0
        assert counted(serving) == {"pass": RUNS + 1 - RUNS // 3, "fail": RUNS // 3}
        assert serving.stop() == 0


def test_a_changed_dialect_gives_a_new_revision_and_keeps_the_old(tmp_path: Path) -> None:
    serving = sent(tmp_path)
    with serving:
        passhat(serving, "regrade", "--renormalise")
        assert serving.stop() == 0
    file = serving.folder / "hermes.yaml"
    file.write_text(yaml.safe_dump({**DIALECT, "tool": {**DIALECT["tool"], "tool": "=look"}}))  # type: ignore[dict-item]
    with serving:
        assert passhat(serving, "regrade", "--renormalise")["changed"] == RUNS // 3
        found = told(serving)
        assert {found[run] for run in expected()} == {"pass"}
        assert {v["revision"] for v in serving.get(f"/api/v1/runs/{1:032x}")["verdicts"]} == {2}
        # A late delivery of what is stored is read by the same words: it is no other span.
        assert serving.post_traces(body(0)).status_code == 200
        serving.drained()
        assert "id_conflict" not in serving.get(f"/api/v1/runs/{1:032x}")["run"]["flags"]
        sql = f"SELECT status FROM verdicts WHERE run_id = '{1:032x}' ORDER BY revision"
        assert [row["status"] for row in passhat(serving, "query", sql)] == ["fail", "pass"]
        assert counted(serving) == {"pass": RUNS + 1}
        assert serving.stop() == 0


def test_a_replay_that_is_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    serving = sent(tmp_path)
    with serving:
        begun = httpx.post(f"http://{serving.web}/api/v1/renormalise", params={"begin": True}, timeout=30).json()
        assert begun["seen"] == 0
        step = httpx.post(f"http://{serving.web}/api/v1/renormalise", timeout=30).json()
        assert step["seen"] > 0
        serving.kill()
    with serving:
        stands = serving.get("/api/v1/renormalise")
        assert (stands["seen"], stands["finished"]) == (step["seen"], False)
        said = passhat(serving, "regrade", "--renormalise")
        assert said["seen"] == 2 * RUNS + 2
        until(lambda: told(serving), lambda found: {run: found.get(run) for run in expected()} == expected())
        assert serving.stop() == 0


def test_an_interrupted_command_leaves_a_replay_that_can_be_finished(tmp_path: Path) -> None:
    serving = sent(tmp_path)
    with serving:
        command = [sys.executable, "-m", "collector", "regrade", "--renormalise", "--server", f"http://{serving.web}"]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda: serving.get("/api/v1/renormalise")["seen"], lambda seen: seen > 0)
        process.send_signal(signal.SIGKILL)
        process.wait(30)
        passhat(serving, "regrade", "--renormalise")
        until(lambda: told(serving), lambda found: {run: found.get(run) for run in expected()} == expected())
        assert serving.stop() == 0
