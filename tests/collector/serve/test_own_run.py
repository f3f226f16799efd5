"""The run that `passhat doctor` sends itself is in no number, whatever project its token puts it in."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from collector.store.store import Store
from tests.collector.serve.made import grading, line, verdict
from tests.support.serving import ROOT

Ask = Callable[..., Any]
SINCE = {"since": "2026-10-01T00:00:00Z", "until": "2027-01-01T00:00:00Z"}
START = "toDateTime64('2026-10-01 00:00:00', 3, 'UTC')"
OWN = "doctor-0123456789abcdef"


@pytest.fixture(scope="module", autouse=True)
def runs(store: Store) -> None:
    checked = {
        "lines": (line(1, "assistant", tool="echo", input={"text": "hello"}),),
        "verdicts": (verdict("c", "fail", severity="critical", gate=True),),
    }
    theirs = [grading(f"r{n}", "pass", at_s=-n, task_id="theirs") for n in range(3)]
    own = [
        grading(f"{OWN}-{project}", "fail", at_s=10 + n, project=project, service="passhat-doctor", agent="demo-agent",
                task_id="passhat doctor", task_source=source, **checked)
        for n, (project, source) in enumerate([("default", "attribute"), ("passhat-doctor", "fallback")])
    ]  # fmt: skip
    store.write_gradings([*theirs, *own])


def test_no_reading_call_knows_of_it(get: Ask) -> None:
    runs = get("/api/v1/runs")["runs"]
    assert [run["run_id"] for run in runs] == ["r0", "r1", "r2"]
    assert [run["run_id"] for run in get("/api/v1/verdicts")["runs"]] == ["r0", "r1", "r2"]
    for by in ("task", "class", "stream"):
        told = get("/api/v1/reliability", by=by, **SINCE)
        assert OWN not in str(told)
        assert "doctor" not in str(told), by
    assert [row["task_id"] for row in get("/api/v1/cost", **SINCE)["tasks"]] == ["theirs"]
    assert "doctor" not in str(get("/api/v1/comparison", window="30d", at="2026-11-05T00:00:00Z"))


def test_no_export_has_it_and_no_gate_counts_it(client: httpx.Client, get: Ask) -> None:
    for form in ("lines", "otlp", "prefixes"):
        assert "doctor" not in client.get("/api/v1/export", params={"form": form}).text
    answer = get("/api/v1/gate", by="class", at="2026-10-30T00:00:00Z", window="28d")
    assert (answer["n"], answer["c"], answer["failing_checks"]) == (3, 3, [])


@pytest.mark.parametrize(
    "view",
    ["trials", "current_verdicts", "tool_calls", "(SELECT * FROM hour_counts FINAL WHERE pass + fail > 0)",
     "(SELECT * FROM day_counts FINAL WHERE pass + fail > 0)",
     f"counts_between(start={START}, end=toDateTime64('2026-10-26 07:33:45', 3, 'UTC'))",
     f"counts_between(start={START}, end=toDateTime64('2027-01-01 00:00:00', 3, 'UTC'))"],
)  # fmt: skip
def test_no_view_has_it(store: Store, view: str) -> None:
    rows = store.query(f"SELECT * FROM {view}", {}).dicts()
    assert "doctor" not in str(rows)


def test_every_view_of_runs_or_spans_leaves_it_out() -> None:
    """A new view that reads the rows themselves must say so too."""
    for file in sorted((ROOT / "queries" / "views").glob("*.sql")):
        text = file.read_text()
        if any(f"FROM {table} FINAL" in text for table in ("runs", "run_hours", "spans")):
            assert "service != 'passhat-doctor'" in text, file.name


def test_it_is_there_by_its_name(get: Ask) -> None:
    assert get(f"/api/v1/runs/{OWN}-default")["run"]["result"] == "fail"


def test_a_gate_over_several_projects_names_them_and_says_how(client: httpx.Client, store: Store) -> None:
    store.write_gradings([grading("elsewhere", project="shop", at_s=-5, task_id="theirs")])
    reply = client.get("/api/v1/gate", params={"at": "2026-10-30T00:00:00Z"})
    assert reply.status_code == 400
    assert reply.json()["detail"] == "several projects have such trials: default, shop"
    assert "--project" in reply.json()["hint"]
