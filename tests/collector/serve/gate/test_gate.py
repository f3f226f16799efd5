"""The gate over the API and a real store: allow, deny, insufficient, and what stands beside the decision."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from collector.config import Config
from collector.config.keys import GateConfig
from collector.store.store import Store
from tests.collector.serve.made import NOON_NS, grading, verdict

Ask = Callable[..., Any]
AT = "2026-10-26T12:00:00Z"  # a Monday; NOON_NS is 07:33:20 of it
DAY_S = 86_400
GATES = {
    "checkout": GateConfig(**{"class": "checkout", "k": 3, "min": 0.8}),
    "strict": GateConfig(task="steady", k=5, min=0.9),
}


def spread(task: str, results: str, *, days: int = 14, last_s: float = -3600, **told: Any) -> list[Any]:
    """One grading a mark (P pass, F fail, E error, ? no outcome), evenly over the days before `last_s`."""
    names = {"P": "pass", "F": "fail", "E": "error", "?": "unknown"}
    step = days * DAY_S / max(len(results), 1)
    first = last_s - step * (len(results) - 1)
    run = told.pop("run", task)
    return [
        grading(f"{run}/{n}", names[mark], at_s=first + n * step, task_id=task, service="svc",
                reason="awaiting_outcome" if mark == "?" else "", **told)
        for n, mark in enumerate(results)
    ]  # fmt: skip


def some_failing(n: int, every: int) -> str:
    return "".join("F" if i % every == every - 1 else "P" for i in range(n))


@pytest.fixture(scope="module", autouse=True)
def gradings(store: Store) -> None:
    made = spread("steady", "P" * 135)
    made += spread("nearly", "P" * 134)
    made += spread("bad", some_failing(300, 3))
    made += spread("quiet", "P" * 200, last_s=-10 * DAY_S)
    made += spread("left-out", "P" * 188 + "E" * 12)
    made += spread("path", "P" * 200, basis="trajectory")
    made += spread("dropped", "P" * 1000, days=17, last_s=-4 * DAY_S) + spread("dropped", "F" * 20, days=2, run="drop2")
    made += spread("broke-rule", "P" * 200)
    made += [
        grading("broke-rule/x", at_s=-DAY_S, task_id="broke-rule", service="svc",
                verdicts=(verdict("no-refund-twice", "fail", severity="critical"), verdict("advice", "fail")))
    ]  # fmt: skip
    made += spread("new-version", "F" * 100, service_version="1", run="v1", last_s=-2 * DAY_S)
    made += spread("new-version", "P" * 20, days=1, service_version="2", run="v2")
    made += spread("edited", "P" * 200, checks_version="c0", last_s=-2 * DAY_S)
    made += spread("task-v", "F" * 50, task_version="1", run="tv1", last_s=-2 * DAY_S)
    made += spread("task-v", "P" * 140, days=1, task_version="2", run="tv2")
    for n in range(9):
        made += spread(f"cart-{n}", "P" * 15, task_class="checkout")
    made += spread("odd", "P" * 15, project="other")
    for n in range(10):
        made += spread(f"thin-{n}", "P" * (100 if n < 7 else 2), task_class="thin")
    made += spread("svc/agent", "P" * 150, task_class="live", task_source="fallback")
    store.write_gradings(made)
    # An edit of the checks reached the task `edited` before its runs were graded again.
    with store._connections.writer() as client:
        client.insert("checks_in_force", [["default", "edited", "", "c1", 9]],
                      column_names=["project", "task_id", "task_class", "checks_version", "epoch"])  # fmt: skip


@pytest.fixture(scope="module")
def app(app: FastAPI) -> FastAPI:
    app.state.config = Config(gates=GATES)
    return app


@pytest.fixture
def gate(get: Ask) -> Ask:
    return lambda **asked: get("/api/v1/gate", **{"project": "default", "at": AT, **asked})


def test_135_passing_trials_allow_and_134_do_not(gate: Ask) -> None:
    allowed = gate(task="steady")
    assert (allowed["decision"], allowed["reasons"], allowed["needed"]) == ("allow", [], 0)
    assert (allowed["n"], allowed["c"], allowed["pass_hat_k"], allowed["deff"]) == (135, 135, 1.0, 1.0)
    assert allowed["low"] >= 0.8
    almost = gate(task="nearly")
    assert (almost["decision"], almost["reasons"], almost["needed"]) == ("insufficient", ["too_few"], 1)
    assert almost["low"] < 0.8


def test_the_ends_are_the_sequence_at_alpha_by_53(gate: Ask) -> None:
    low = gate(task="nearly")["low"] ** (1 / 3)
    regret = math.lgamma(134.5) + math.lgamma(0.5) - math.lgamma(135) - math.log(math.pi)
    assert regret - 134 * math.log(low) == pytest.approx(math.log(53 / 0.05), abs=1e-6)


def test_the_answer_has_every_field_of_the_contract(gate: Ask) -> None:
    names = """decision reasons guarantee basis by service_version task_version checks_version window n c excluded tasks
        tasks_used k min confidence pass_hat_k low high needed deff worst_tasks failing_checks run_urls decided_at
        gate_id"""
    told = gate(task="steady")
    assert set(names.split()) - set(told) == set()
    assert told["window"] == {
        "start": "2026-09-28T00:00:00.000Z", "end": "2026-10-26T12:00:00.000Z", "anchor": "2026-09-28T00:00:00.000Z"
    }  # fmt: skip
    assert (told["guarantee"], told["basis"], told["by"]) == ("year", "outcome", "task")
    assert (told["k"], told["min"], told["confidence"]) == (3, 0.8, 0.95)


def test_a_bad_task_is_denied_with_what_fails_and_where(gate: Ask, client: httpx.Client) -> None:
    told = gate(task="bad")
    assert told["decision"] == "deny"
    assert "below_target" in told["reasons"]
    assert told["high"] < 0.8
    assert len(told["run_urls"]) == 10
    assert client.get(told["run_urls"][0]).json()["run"]["result"] == "fail"


@pytest.mark.parametrize(
    ("task", "reasons"),
    [
        ("quiet", ["stale"]),
        ("left-out", ["excluded"]),
        ("path", ["no_outcomes"]),
        ("edited", ["checks_changed"]),
        ("nobody", ["no_trials"]),
    ],
)
def test_what_is_missing_is_named(gate: Ask, task: str, reasons: list[str]) -> None:
    told = gate(task=task)
    assert (told["decision"], told["reasons"]) == ("insufficient", reasons)
    assert len(told["explanation"]) == len(reasons)


def test_what_is_missing_is_said_of_the_basis_asked_for(gate: Ask) -> None:
    assert "(--basis trajectory reads those)" in gate(task="path")["explanation"][0]
    told = gate(task="steady", basis="trajectory")
    assert told["reasons"] == ["no_outcomes"]
    assert "(--basis outcome reads those)" in told["explanation"][0]


def test_another_basis_and_other_limits_may_be_asked_for(gate: Ask) -> None:
    assert gate(task="path", basis="trajectory")["decision"] == "allow"
    assert gate(task="quiet", max_age="30d")["decision"] == "allow"
    assert gate(task="left-out", max_excluded=0.1)["decision"] == "allow"
    assert gate(task="nearly", confidence=0.9)["decision"] == "allow"
    assert gate(task="steady", k=5, min=0.9)["decision"] == "insufficient"


def test_a_drop_of_the_last_three_days_denies(gate: Ask) -> None:
    told = gate(task="dropped")
    assert told["decision"] == "deny"
    assert "last_three_days" in told["reasons"]
    assert told["last_three_days"]["n"] == 20


def test_one_critical_failure_denies(gate: Ask) -> None:
    told = gate(task="broke-rule")
    assert (told["decision"], told["reasons"]) == ("deny", ["critical_failure"])
    assert told["failing_checks"] == [{"check_id": "no-refund-twice", "runs": 1, "severity": "critical"}]
    assert told["run_urls"] == ["/api/v1/runs/broke-rule%2Fx?project=default"]


def test_the_newest_service_version_is_meant_unless_another_is_named(gate: Ask) -> None:
    told = gate(task="new-version")
    assert (told["service_version"], told["n"], told["c"]) == ("2", 20, 20)
    older = gate(task="new-version", service_version="1")
    assert (older["decision"], older["service_version"], older["n"]) == ("deny", "1", 100)


def test_the_newest_task_version_is_meant_and_older_ones_are_counted_beside(gate: Ask) -> None:
    told = gate(task="task-v")
    assert (told["decision"], told["task_version"], told["n"]) == ("allow", "2", 140)
    assert told["excluded"]["superseded"] == 50


def test_a_class_is_the_mean_over_its_tasks(gate: Ask) -> None:
    told = gate(**{"class": "checkout"})
    assert (told["decision"], told["by"], told["tasks"], told["tasks_used"]) == ("allow", "class", 9, 9)
    assert told["n"] == 135
    assert len(told["worst_tasks"]) == 5
    assert gate(name="checkout")["decision"] == "allow"
    thin = gate(**{"class": "thin"})
    assert (thin["decision"], thin["reasons"]) == ("insufficient", ["selected"])


def test_a_class_nobody_named_the_tasks_of_is_a_stream(gate: Ask) -> None:
    told = gate(**{"class": "live"})
    assert (told["decision"], told["by"], told["n"]) == ("allow", "stream", 150)


def test_a_decision_is_replayed_and_kept(gate: Ask, store: Store) -> None:
    before = gate(task="steady", at="2026-10-20T00:00:00Z")
    assert before["decision"] == "insufficient"
    assert before["n"] < 135
    [row] = store.query(
        "SELECT decision, question, answer FROM gate_decisions WHERE gate_id = {id:String}", {"id": before["gate_id"]}
    ).dicts()
    assert row["decision"] == "insufficient"
    assert json.loads(row["question"]) == {"task": ["steady"], "project": ["default"], "at": "2026-10-20T00:00:00Z"}
    assert json.loads(row["answer"])["n"] == before["n"]


def test_named_policies(gate: Ask, get: Ask, client: httpx.Client) -> None:
    assert [one["name"] for one in get("/api/v1/gates")["gates"]] == ["checkout", "strict"]
    strict = gate(name="strict")
    assert (strict["decision"], strict["k"], strict["min"], strict["needed"]) == ("insufficient", 5, 0.9, 506 - 135)
    assert client.get("/api/v1/gate", params={"name": "nope"}).status_code == 400
    assert client.get("/api/v1/gate", params={"name": "strict", "k": 1}).status_code == 400


def test_projects_are_not_pooled(client: httpx.Client) -> None:
    refused = client.get("/api/v1/gate", params={"at": AT})
    assert refused.status_code == 400
    assert "project" in refused.text
    assert client.get("/api/v1/gate", params={"at": AT, "task": "odd"}).json()["n"] == 15


@pytest.mark.parametrize("wrong", [{"k": 0}, {"min": 1}, {"min": "nan"}, {"window": "-1d"}, {"at": "soon"}, {"mim": 1}])
def test_what_cannot_be_meant_is_refused(client: httpx.Client, wrong: dict[str, Any]) -> None:
    assert client.get("/api/v1/gate", params=wrong).status_code == 400


def test_the_noon_of_the_tests_is_where_they_think() -> None:
    assert NOON_NS // 10**9 == 1_793_000_000
