"""Runs over the API: listed newest first, told whole, found by any id."""

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from fastapi import FastAPI

from collector.store.store import Store
from semconv.outcome import Outcome
from tests.collector.serve.made import NOON_NS, grading, line, verdict

Ask = Callable[..., Any]

HOSTILE = [
    "t'); DROP TABLE spans; --",
    "a/b//c/../d",
    "..",
    ".",
    "%2F%00",
    "line\nbreak\r\n",
    "tab\tnul\x00",
    "\x1b[31mred",
    "{run_id:String}",
    "<script>alert(1)</script>?a=b#c",
    "ünï/码",
    "x" * 2000,
]


@pytest.fixture(scope="module", autouse=True)
def runs(store: Store) -> None:
    lines = (
        line(1, "user", text="Do it.\x1b[2J"),
        line(2, "assistant", tool="Edit", tool_raw="Edit", call_id="c1", status="unset", input_state="object",
             input={"id": 9223372036854775807, "big": 2**70, "min": -(2**63), "path": "a\nb"}),
        line(3, "tool", tool="Edit", call_id="c1", status="ok", output=""),
        line(4, "assistant", tool="Bash", call_id="c2", status="error", error="exit 1", input="ls"),
        line(5, "assistant", text="Done."),
        line(6, "result", subtype="success", num_turns=0, cost_usd=0.0),
    )  # fmt: skip
    verdicts = (
        verdict("no-edits", "fail", lines=(2,), gate=True, reason="line 2 edits\na test", fix="Do not."),
        verdict("calls", "not_applicable", kind="each", axis="calls"),
    )
    whole = grading("whole", "fail", at_s=-3600, reason="no-edits", lines=lines, verdicts=verdicts, expected="42")
    made = [grading(name, at_s=-7200, task_id="hostile") for name in HOSTILE]
    paged = [grading(f"r{n:02d}", "pass" if n % 3 else "fail", at_s=-(n // 2), task_id="paged") for n in range(25)]
    twins = [grading("twin", project=project, task_id="twins", at_s=-90) for project in ("p", "q")]
    reasons = [
        grading(f"why{n}", result, at_s=-80, task_id="why", reason="c" if result == "fail" else "",
                verdicts=(verdict("c", result, gate=True, reason=f"Because of {n}."), verdict("shows", "fail")))
        for n, result in enumerate(("fail", "pass", "fail"))
    ]  # fmt: skip
    store.write_gradings([whole, *made, *paged, *twins, *reasons])
    store.add_outcomes([("default", Outcome("whole", "fail", "environment", reason="row missing", time_ns=NOON_NS))])


def test_b134_b144_the_reasons_behind_a_rate_are_one_question_away(get: Ask) -> None:
    (row,) = get("/api/v1/reliability", task="why", since="2026-01-01T00:00:00Z", until="2027-01-01T00:00:00Z")["tasks"]
    failed = get("/api/v1/verdicts", task="why", result="fail")["runs"]
    assert len(failed) == row["n"] - row["c"] == 2
    told = {
        run["run_id"]: [(v["check_id"], v["gate"], v["status"], v["reason"]) for v in run["verdicts"]] for run in failed
    }
    assert told == {
        f"why{n}": [("c", True, "fail", f"Because of {n}."), ("shows", False, "fail", "why")] for n in (0, 2)
    }  # fmt: skip


def test_a_run_is_told_whole(get: Ask) -> None:
    told = get("/api/v1/runs/whole")
    run = told["run"]
    assert (run["run_id"], run["result"], run["reason"], run["expected"]) == ("whole", "fail", "no-edits", "42")
    assert run["ended"] == "2026-10-26T06:33:20.000Z"
    assert run["duration_s"] == 1.0
    assert [line["n"] for line in told["lines"]] == [1, 2, 3, 4, 5, 6]
    assert [(v["check_id"], v["status"], v["lines"], v["gate"]) for v in told["verdicts"]] == [
        ("no-edits", "fail", [2], True),
        ("calls", "not_applicable", [], False),
    ]
    [outcome] = told["outcomes"]
    assert (outcome["result"], outcome["source"], outcome["reason"]) == ("fail", "environment", "row missing")
    assert outcome["time"] == "2026-10-26T07:33:20.000Z"


def test_a_line_without_its_empty_keys_is_the_line_a_harness_writes(get: Ask) -> None:
    lines = get("/api/v1/runs/whole")["lines"]
    assert lines[0].keys() == {"n", "role", "text", "run_id", "start", "end", "status", "depth"}
    assert lines[2]["output"] == ""  # an empty answer is an answer
    assert "output" not in lines[3]  # not captured
    assert lines[3]["input"] == "ls"
    assert lines[5]["num_turns"] == 0
    assert lines[5]["cost_usd"] == 0.0


def test_64_bit_integers_keep_every_digit(client: httpx.Client) -> None:
    text = client.get("/api/v1/runs/whole").text
    value = json.loads(text)["lines"][1]["input"]
    assert (value["id"], value["big"], value["min"]) == (2**63 - 1, 2**70, -(2**63))
    assert '"id":9223372036854775807' in text


@pytest.mark.parametrize("run_id", HOSTILE)
def test_any_id_is_data(client: httpx.Client, run_id: str) -> None:
    reply = client.get("/api/v1/runs/" + quote(run_id, safe="").replace(".", "%2E"))
    assert reply.status_code == 200, reply.text
    assert reply.json()["run"]["run_id"] == run_id


def test_hostile_ids_are_listed_and_filter_exactly(get: Ask) -> None:
    found = get("/api/v1/runs", task="hostile", limit=1000)["runs"]
    assert sorted(run["run_id"] for run in found) == sorted(HOSTILE)
    assert get("/api/v1/runs", task="hostile' OR 1=1 --")["runs"] == []


def test_pages_follow_one_another_without_gap_or_repeat(get: Ask) -> None:
    seen: list[str] = []
    cursor = ""
    while True:
        page = get("/api/v1/runs", task="paged", limit=7, cursor=cursor)
        assert len(page["runs"]) <= 7
        seen += [run["run_id"] for run in page["runs"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert len(seen) == 25
    assert set(seen) == {f"r{n:02d}" for n in range(25)}
    ends = [run["ended"] for run in get("/api/v1/runs", task="paged", limit=1000)["runs"]]
    assert ends == sorted(ends, reverse=True)


def test_a_run_that_arrives_meanwhile_moves_no_page(get: Ask, store: Store) -> None:
    first = get("/api/v1/runs", task="moving", limit=2)
    store.write_gradings([grading(f"m{n}", at_s=-n, task_id="moving") for n in range(4)])
    first = get("/api/v1/runs", task="moving", limit=2)
    store.write_gradings([grading("m-new", at_s=60, task_id="moving")])
    second = get("/api/v1/runs", task="moving", limit=2, cursor=first["next"])
    assert [run["run_id"] for run in (*first["runs"], *second["runs"])] == ["m0", "m1", "m2", "m3"]


def test_results_and_windows_select(get: Ask) -> None:
    failed = get("/api/v1/runs", task="paged", result="fail", limit=1000)["runs"]
    assert [run["run_id"] for run in failed] == [f"r{n:02d}" for n in range(24, -1, -3)][::-1] or len(failed) == 9
    assert {run["result"] for run in failed} == {"fail"}
    half_open = get(
        "/api/v1/runs", task="paged", since="2026-10-26T07:33:15Z", until="2026-10-26T07:33:16.000Z", limit=1000
    )
    assert {run["run_id"] for run in half_open["runs"]} == {"r10", "r11"}
    either = get("/api/v1/runs", task="paged", result=["fail", "pass"], limit=1000)["runs"]
    assert len(either) == 25


def test_one_id_in_two_projects_is_a_question_not_a_guess(client: httpx.Client, get: Ask) -> None:
    reply = client.get("/api/v1/runs/twin")
    assert reply.status_code == 409
    assert reply.json()["errors"][0]["field"] == "?project"
    assert get("/api/v1/runs/twin", project="q")["run"]["project"] == "q"


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=1001", "?limit"),
        ("limit=0", "?limit"),
        ("limit=x", "?limit"),
        ("result=passed", "?result"),
        ("basis=both", "?basis"),
        ("taks=a", "?taks"),
        ("since=yesterday", "?since"),
        ("cursor=!!", "?cursor"),
        ("cursor=WzFd", "?cursor"),
        ("cursor=WzEsMiwzXQ", "?cursor"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(client: httpx.Client, query: str, field: str) -> None:
    reply = client.get(f"/api/v1/runs?{query}")
    assert reply.status_code == 400
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json()["errors"][0]["field"] == field


def test_an_unknown_run_is_404(client: httpx.Client) -> None:
    reply = client.get("/api/v1/runs/never")
    assert reply.status_code == 404
    assert reply.json()["status"] == 404


def test_a_case_is_mined_from_what_is_known(client: httpx.Client, app: FastAPI, store: Store) -> None:
    lines = (
        line(1, "user", text="the temperature in Paris plus 10"),
        line(2, "assistant", tool="search", input={"query": "paris temp"}),
        line(3, "assistant", tool="weather", input={"city": "Paris"}),
    )
    verdicts = (
        verdict("path", "fail", kind="order"),
        verdict("calls", "fail", kind="each", axis="calls", lines=(2, 3)),
    )
    run = grading("mined", "fail", task_id="paris", lines=lines, verdicts=verdicts, expected="32", at_s=-60)
    store.write_gradings([run])
    app.state.definitions = [{"id": "path", "kind": "order", "tools": ["weather", "calculator"]}]
    case = client.post("/api/v1/cases", json={"run_id": "mined"}).json()
    assert case == {
        "id": "paris-mined", "task": "paris", "input": "the temperature in Paris plus 10", "from_run": "mined",
        "from_result": "fail", "require_path": ["weather", "calculator"], "forbid_tool": ["search"],
        "expect_answer": "32", "comment": "", "gate": False,
    }  # fmt: skip
    named = client.post("/api/v1/cases", json={"run_id": "mined", "expect": "33", "id": "mine"}).json()
    assert (named["id"], named["expect_answer"]) == ("mine", "33")


def test_what_is_unknown_stays_empty_in_a_case(client: httpx.Client, app: FastAPI) -> None:
    app.state.definitions = []
    case = client.post("/api/v1/cases", json={"run_id": "r03"}).json()
    assert (case["input"], case["require_path"], case["forbid_tool"], case["expect_answer"]) == ("", [], [], "")


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"run_id": "never"}, 404, "run_id"),
        ({"run_id": 3}, 422, "/run_id"),
        ({}, 422, "/run_id"),
        ({"run_id": "r03", "id": "../../etc/passwd"}, 422, "/id"),
        ({"run_id": "r03", "zz": 1}, 422, "/zz"),
    ],
)
def test_a_case_asked_for_wrongly_is_refused(client: httpx.Client, body: Any, status: int, field: str) -> None:
    reply = client.post("/api/v1/cases", json=body)
    assert reply.status_code == status
    assert reply.json()["errors"][0]["field"] == field
