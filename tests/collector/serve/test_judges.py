"""Judges against people: the view, and what the API tells of it."""

from __future__ import annotations

import math

import httpx
import pytest
from fastapi import FastAPI

from collector.config import Config
from collector.config.judge import JudgeConfig
from collector.store.store import Store
from semconv.outcome import Outcome
from tests.collector.serve.made import NOON_NS, grading, verdict

Z = 1.959963984540054
CHECK = {"id": "polite", "kind": "judge", "criterion": "The agent stays polite.", "model": "m-1"}


def labelled(store: Store, project: str, version: str, counts: dict[tuple[str, str], int]) -> None:
    """Runs a judge judged and people labelled ('' for nobody), so many of each pair."""
    made, said = [], []
    for (judged, label), count in counts.items():
        for number in range(count):
            run = f"{project}-{version}-{judged}-{label}-{number}"
            verdicts = (verdict("polite", judged, kind="judge", check_version=version), verdict("c", "pass"))
            made.append(grading(run, project=project, verdicts=verdicts))
            if label:
                said.append((project, Outcome(run, label, "human", time_ns=NOON_NS)))  # type: ignore[arg-type]
                said.append((project, Outcome(run, "pass", "environment", time_ns=NOON_NS + 1)))
    store.write_gradings(made)
    store.add_outcomes(said)


def wilson(x: int, n: int) -> tuple[float, float]:
    half = Z * math.sqrt(x * (n - x) / n + Z * Z / 4)
    return (x + Z * Z / 2 - half) / (n + Z * Z), (x + Z * Z / 2 + half) / (n + Z * Z)


def test_the_view_counts_as_textbooks_do(store: Store) -> None:
    counts = {("pass", "pass"): 20, ("pass", "fail"): 5, ("fail", "pass"): 10, ("fail", "fail"): 15}
    more = {
        ("unknown", "pass"): 2,
        ("error", "fail"): 1,
        ("pass", ""): 4,
        ("not_applicable", "fail"): 3,
        ("pass", "invalid"): 2,
    }
    labelled(store, "book", "v1", counts | more)
    labelled(store, "book", "v2", {("pass", "fail"): 1})
    rows = store.query("SELECT * FROM judge_calibration WHERE project = 'book' ORDER BY check_version").dicts()
    one, other = rows
    assert {key: one[key] for key in ("judged", "labelled", "tp", "fp", "tn", "fn", "unanswered")} == {
        "judged": 56, "labelled": 50, "tp": 20, "fp": 5, "tn": 15, "fn": 10, "unanswered": 3
    }  # fmt: skip
    assert one["kappa"] == pytest.approx(0.4)  # Cohen's own example: 35 of 50 agree, half by chance
    low, high = wilson(35, 50)
    assert (one["kappa_low"], one["kappa_high"]) == pytest.approx(((low - 0.5) / 0.5, (high - 0.5) / 0.5))
    assert one["tpr"] == pytest.approx(20 / 30)
    assert (one["tpr_low"], one["tpr_high"]) == pytest.approx(wilson(20, 30))
    assert one["tnr"] == pytest.approx(15 / 20)
    assert (one["tnr_low"], one["tnr_high"]) == pytest.approx(wilson(15, 20))
    assert one["calibration"] == "known"
    assert (other["tpr"], other["tpr_low"], other["tnr"], other["calibration"]) == (None, None, 0, "unknown")
    assert (other["kappa"], other["kappa_low"]) == (0, pytest.approx(wilson(0, 1)[0]))


def test_agreement_without_an_exception_is_no_certainty(store: Store) -> None:
    labelled(store, "sure", "v1", {("pass", "pass"): 10, ("fail", "fail"): 10})
    labelled(store, "one-sided", "v1", {("pass", "pass"): 40})
    rows = store.query(
        "SELECT * FROM judge_calibration WHERE project IN ('sure', 'one-sided') ORDER BY project"
    ).dicts()
    one_sided, sure = rows
    assert (sure["kappa"], sure["tpr"], sure["calibration"]) == (1, 1, "known")
    assert 0.65 < sure["kappa_low"] < 0.75
    assert sure["kappa_high"] == pytest.approx(1)
    assert (one_sided["kappa"], one_sided["kappa_low"], one_sided["tnr"]) == (None, None, None)
    assert one_sided["calibration"] == "unknown"


def test_a_later_label_counts_and_a_withdrawn_run_does_not(store: Store) -> None:
    labelled(store, "later", "v1", {("pass", "fail"): 2})
    store.add_outcomes([("later", Outcome("later-v1-pass-fail-0", "pass", "human", time_ns=NOON_NS + 5))])
    gone = grading("later-v1-pass-fail-1", project="later")
    store.write_gradings(
        [type(gone)(**{**{f: getattr(gone, f) for f in gone.__struct_fields__}, "alive": False, "inputs": 9})]
    )
    (row,) = store.query("SELECT tp, fp FROM judge_calibration WHERE project = 'later'").rows
    assert row == (1, 0)


def test_the_api_tells_judges_in_force_and_marks_their_verdicts(
    store: Store, app: FastAPI, client: httpx.Client
) -> None:
    labelled(store, "api", "old", {("pass", "pass"): 12, ("fail", "fail"): 11})
    app.state.config = Config(checks=[CHECK], judge=JudgeConfig(url="http://127.0.0.1:1/x"))
    told = client.get("/api/v1/judges", params={"project": "api"}).json()["judges"]
    assert [(one["in_force"], one["model"], one["judged"], one["calibration"]) for one in told] == [
        (False, "", 23, "known"),
        (True, "m-1", 0, "unknown"),
    ]
    assert told[0]["tpr"]["value"] == 1
    assert told[1]["kappa"] == {"value": None, "low": None, "high": None}
    run = client.get("/api/v1/runs/api-old-pass-pass-0", params={"project": "api"}).json()
    assert {v["check_id"]: v.get("calibration") for v in run["verdicts"]} == {"polite": "known", "c": None}
    assert client.get("/api/v1/judges", params={"task": "t"}).status_code == 400


def test_a_judge_is_not_tried_over_the_api(client: httpx.Client) -> None:
    reply = client.post("/api/v1/checks/test", json={"checks": [CHECK]})
    assert reply.status_code == 422
    assert "judge checks are tried where they are configured" in reply.json()["detail"]
