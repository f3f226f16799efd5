"""A run removed through the API and the command of a real collector, killed in between."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator

import httpx
import pytest

from tests.collector.removing import run_of, trace_id, trials_of_one_trace
from tests.support.serving import ROOT, Serving, until

ADMIN, READER = "an admin's token", "a reader's token"


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    tokens = [
        {"name": name, "sha256": hashlib.sha256(token.encode()).hexdigest(), "scopes": scopes}
        for name, token, scopes in (("admin", ADMIN, ["admin"]), ("reader", READER, ["read"]))
    ]
    with Serving(tmp_path_factory.mktemp("removal"), {"auth": {"tokens": tokens}}) as running:
        yield running


def ask(serving: Serving, method: str, path: str, token: str = ADMIN, **more: object) -> httpx.Response:
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.request(method, f"http://{serving.web}{path}", headers=headers, timeout=30, **more)  # type: ignore[arg-type]


def send(serving: Serving, request: object) -> None:
    headers = {"Authorization": f"Bearer {ADMIN}", "Content-Type": "application/x-protobuf"}
    body = request.SerializeToString()  # type: ignore[attr-defined]
    assert httpx.post(f"http://{serving.http}/v1/traces", content=body, headers=headers).status_code == 200


def runs(serving: Serving, count: int) -> list[str]:
    return sorted(
        run["run_id"]
        for run in until(
            lambda: ask(serving, "GET", "/api/v1/runs").json()["runs"],
            lambda found: len(found) == count and all(run["result"] != "pending" for run in found),
        )
    )


def test_a_run_goes_and_does_not_come_back(serving: Serving) -> None:
    send(serving, run_of(1, "text", time.time_ns()))
    send(serving, run_of(2, "other text"))
    gone, kept = runs(serving, 2)
    path = f"/api/v1/runs/{gone}"
    assert 'task_id="demo/a text"' in ask(serving, "GET", "/metrics").text
    assert ask(serving, "DELETE", path, READER).status_code == 403
    assert ask(serving, "DELETE", "/api/v1/runs/nobody").status_code == 404
    assert ask(serving, "DELETE", path, params={"project": "other"}).status_code == 404
    answer = ask(serving, "DELETE", path)
    assert answer.status_code in (200, 202)
    told = answer.json()
    assert (told["run_id"], told["project"], told["records"]) == (gone, "default", 2)
    assert (told["traces"], told["shared_traces"]) == ([gone], [])
    assert answer.headers["Location"] == told["progress"]
    assert 'task_id="demo/a text"' not in ask(serving, "GET", "/metrics").text
    serving.kill()  # it has answered: what is left to do is taken up by the next process
    serving.start()
    assert ask(serving, "GET", path).status_code == 404
    assert runs(serving, 1) == [kept]
    [standing] = until(
        lambda: ask(serving, "GET", told["progress"], READER).json()["removals"],
        lambda found: found[0]["state"] == "removed",
    )
    assert ask(serving, "DELETE", path).json() == standing
    send(serving, run_of(1, "text"))
    status = until(
        lambda: ask(serving, "GET", "/api/v1/status").json(), lambda told: told["refused"].get("removed_run") == 2
    )
    assert (status["removals"], status["problems"]) == ({"pending": 0}, [])
    assert runs(serving, 1) == [kept]


def test_what_is_said_of_a_removed_run_is_refused_and_counted(serving: Serving) -> None:
    gone = f"{trace_id(1).hex()}"
    said = [{"run_id": run_id, "result": "pass"} for run_id in (gone, "to come")]
    alone = ask(serving, "POST", "/api/v1/outcomes", json=said[0])
    assert (alone.status_code, alone.json()["detail"]) == (410, "the run was removed for good")
    both = ask(serving, "POST", "/api/v1/outcomes", json=said)
    assert (both.status_code, both.json()["accepted"]) == (202, 1)
    assert [one.get("removed", False) for one in both.json()["outcomes"]] == [True, False]
    counted = 'passhat_refused_total{reason="removed_run",signal="outcomes"} 2.0'
    assert counted in ask(serving, "GET", "/metrics").text


def test_the_command_removes_a_trial_of_a_shared_trace(serving: Serving) -> None:
    send(serving, trials_of_one_trace(5, ["one", "two"]))
    before = runs(serving, 3)
    gone = f"{trace_id(5).hex()}:{20:016x}"
    command = [sys.executable, "-m", "collector", "delete", gone, "--server", f"http://{serving.web}"]
    environment = {**os.environ, "PASSHAT_TOKEN": ADMIN}
    asked = subprocess.run(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert asked.returncode == 2
    assert "--yes" in asked.stderr
    done = subprocess.run([*command, "--yes"], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{gone}: removed (spans and log records: 2)\n"
    assert runs(serving, 2) == [run for run in before if run != gone]
    again = subprocess.run([*command[:4], "nobody", *command[5:], "--yes"], cwd=ROOT, env=environment,
                           capture_output=True, text=True, timeout=120)  # fmt: skip
    assert again.returncode == 3
