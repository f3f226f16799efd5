"""Rates over the API are the rows of the views, for any filter."""

import json
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, cast

import httpx
import pytest

from collector.serve.rates import filtered, rates
from collector.store.store import Store
from tests.collector.serve.made import grading

Ask = Callable[..., Any]
WINDOW = {"since": "2026-10-26T00:00:00Z", "until": "2026-10-27T00:00:00Z"}
VIEW_WINDOW = {"start": "2026-10-26 00:00:00.000", "end": "2026-10-27 00:00:00.000"}

MATRIX = {
    "fix-rounding": "PPPPP",
    "add-endpoint": "PPPPP",
    "rename-flag": "PP.PP",
    "null-guard": "P.PPP",
    "retry-on-429": ".PP.P",
    "migrate-config": "P..P.",
    "flaky-cache": "..P..",
    "cross-repo-bump": ".....",
}
RESULTS = {"P": "pass", ".": "fail", "E": "error", "?": "unknown", "X": "invalid", "-": "incomplete"}


def trials(task: str, row: str, **told: Any) -> list[Any]:
    """One grading a mark, a minute apart, oldest first."""
    start = told.pop("at_s", -3600)
    name = told.pop("name", task)
    return [
        grading(f"{name}/{n}", RESULTS[mark], at_s=start + 60 * n, task_id=task,
                reason="awaiting_outcome" if mark == "?" else "", **told)
        for n, mark in enumerate(row)
    ]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def gradings(store: Store) -> None:
    made = [one for task, row in MATRIX.items() for one in trials(task, row, task_class="matrix", project="m")]
    made += trials("mixed", "PP.E?X-", project="x", model="m1", task_class="c")
    made += trials("mixed", "PPPPP", project="x", model="m2", task_class="c", name="mixed-m2")
    made += trials("mixed", "PP", project="x", task_version="2", task_class="c", name="mixed-v2")
    made += trials("mixed", "P.", project="x", basis="trajectory", task_class="c", name="mixed-path")
    made += trials("svc/agent", "PPP.", project="s", task_source="fallback", basis="trajectory", name="stream")
    store.write_gradings(made)


def of(answer: Any, **key: str) -> Any:
    [row] = [row for row in answer["tasks"] if all(row[name] == value for name, value in key.items())]
    return row


def test_the_matrix_of_the_lesson(get: Ask) -> None:
    answer = get("/api/v1/reliability", project="m", k="1,3,5", **WINDOW)
    suite = answer["suite"]
    assert (suite["tasks"], suite["tasks_used"], suite["n"]) == (8, 8, 40)
    assert [round(suite["pass_at_k"][k], 4) for k in "135"] == [0.6, 0.8125, 0.875]
    assert [round(suite["pass_hat_k"][k], 4) for k in "135"] == [0.6, 0.3625, 0.25]
    assert {row["task_id"]: row["c"] for row in answer["tasks"]} == {
        task: row.count("P") for task, row in MATRIX.items()
    }
    assert answer["errors"] == "exclude"
    assert answer["window"] == {"start": "2026-10-26T00:00:00.000Z", "end": "2026-10-27T00:00:00.000Z"}


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_rates_are_the_exact_fractions(get: Ask, k: int) -> None:
    """B121: the combination form."""
    for row in get("/api/v1/reliability", project="m", k=k, **WINDOW)["tasks"]:
        n, c = row["n"], row["c"]
        at = 1 - Fraction(math.comb(n - c, k), math.comb(n, k))
        hat = Fraction(math.comb(c, k), math.comb(n, k))
        assert row["pass_at_k"][str(k)] == pytest.approx(float(at), abs=1e-12)
        assert row["pass_hat_k"][str(k)] == pytest.approx(float(hat), abs=1e-12)
        assert row["low"][str(k)] <= row["pass_hat_k"][str(k)] <= row["high"][str(k)]


def test_too_few_trials_are_null_never_a_number(client: httpx.Client) -> None:
    """B118, B120."""
    reply = client.get("/api/v1/reliability", params={"project": "x", "version": "2", "k": "2,3", **WINDOW})
    [row] = reply.json()["tasks"]
    assert row["pass_hat_k"] == {"2": 1.0, "3": None}
    assert row["pass_at_k"]["3"] is None
    assert row["flag"] == "too_few"
    json.loads(reply.text, parse_constant=lambda constant: pytest.fail(constant))


def test_versions_and_bases_are_never_mixed(get: Ask) -> None:
    rows = get("/api/v1/reliability", project="x", **WINDOW)["tasks"]
    told = {(row["task_version"], row["basis"]): (row["n"], row["c"]) for row in rows}
    assert told == {("", "outcome"): (8, 7), ("2", "outcome"): (2, 2), ("", "trajectory"): (2, 1)}


def test_what_is_left_out_stands_beside(get: Ask) -> None:
    """B115."""
    row = of(get("/api/v1/reliability", project="x", model="m1", k="2", **WINDOW), task_version="", basis="outcome")
    assert [row[name] for name in ("n", "c", "errors", "invalid", "unknown", "incomplete")] == [3, 2, 1, 1, 1, 1]
    assert row["pass_hat_k"]["2"] == pytest.approx(1 / 3)
    assert row["pass_hat_k_worst"]["2"] == pytest.approx(float(Fraction(1, math.comb(7, 2))))


@pytest.mark.parametrize(
    ("policy", "n", "hat"),
    [
        ({"errors": "fail"}, 4, Fraction(1, 6)),
        ({"errors": "fail", "incomplete": "fail"}, 5, Fraction(1, 10)),
        ({"errors": "exclude"}, 3, Fraction(1, 3)),
    ],
)
def test_policies_count_what_they_say(get: Ask, policy: dict[str, str], n: int, hat: Fraction) -> None:
    """B122: a policy changes how trials count, never what is stored of them."""
    answer = get("/api/v1/reliability", project="x", model="m1", k="2,4", **policy, **WINDOW)
    row = of(answer, task_version="", basis="outcome")
    assert (row["n"], row["c"], row["errors"]) == (n, 2, 1)
    assert row["pass_hat_k"]["2"] == pytest.approx(float(hat))
    assert answer["errors"] == policy["errors"]


def test_filters_reach_the_counts_not_the_rates(get: Ask) -> None:
    row = of(get("/api/v1/reliability", project="x", model=["m2"], k="5", **WINDOW), task_version="", basis="outcome")
    assert (row["n"], row["c"], row["errors"]) == (5, 5, 0)
    assert row["pass_hat_k"]["5"] == 1.0
    assert get("/api/v1/reliability", project="x", model="m3", **WINDOW)["tasks"] == []


def test_a_stream_has_no_any_of_k(get: Ask) -> None:
    [row] = get("/api/v1/reliability", project="s", k="2", **WINDOW)["tasks"]
    assert (row["task_source"], row["pass_at_k"]["2"], row["pass_hat_k"]["2"]) == ("fallback", None, pytest.approx(0.5))
    streams = get("/api/v1/reliability", project="m", by="stream", k="3,5", **WINDOW)["streams"]
    whole = next(stream for stream in streams if stream["whole"])
    assert (whole["n"], whole["c"]) == (40, 24)
    assert [round(whole["pass_hat_k"][k], 4) for k in "35"] == [0.2049, 0.0646]
    assert whole["pass_at_k"] == {"3": None, "5": None}


def test_classes_are_told_by_class(get: Ask) -> None:
    [row] = get("/api/v1/reliability", project="m", by="class", k="3", **WINDOW)["classes"]
    assert (row["task_class"], row["tasks"], round(row["pass_hat_k"]["3"], 4)) == ("matrix", 8, 0.3625)


def test_recent_results_are_oldest_first(get: Ask) -> None:
    rows = get("/api/v1/reliability", project="m", recent=3, **WINDOW)["tasks"]
    assert of({"tasks": rows}, task_id="retry-on-429")["recent"] == ["pass", "fail", "pass"]
    assert "recent" not in get("/api/v1/reliability", project="m", **WINDOW)["tasks"][0]


def test_the_window_is_half_open(get: Ask) -> None:
    def n(since: str, until: str) -> int:
        rows = get("/api/v1/reliability", project="m", task="fix-rounding", since=since, until=until)["tasks"]
        return sum(row["n"] for row in rows)

    assert n("2026-10-26T06:33:20Z", "2026-10-26T06:37:20.001Z") == 5
    assert n("2026-10-26T06:33:20Z", "2026-10-26T06:37:20Z") == 4
    assert n("2026-10-26T06:33:20.001Z", "2026-10-26T06:37:20.001Z") == 4
    assert n("2026-10-26T06:00:00Z", "2026-10-26T07:00:00Z") == 5


@pytest.mark.parametrize("view", ["task_reliability", "suite_reliability"])
@pytest.mark.parametrize("k", [1, 3])
def test_without_a_filter_the_rows_are_those_of_the_view(store: Store, view: str, k: int) -> None:
    names = (
        "project",
        "environment",
        "service",
        "service_version",
        "agent",
        "model",
        "task",
        "class",
        "version",
        "basis",
    )
    bound = {**{name: [] for name in names}, "errors": "", "incomplete": "", **VIEW_WINDOW, "k": k, "ks": [k]}
    call = f"{view}(start={{start:DateTime64(3, 'UTC')}}, end={{end:DateTime64(3, 'UTC')}}, k={{k:UInt32}})"
    own = store.query(f"SELECT * FROM ({filtered(view)}) ORDER BY ALL", bound).dicts()
    assert own == store.query(f"SELECT * FROM {call} ORDER BY ALL", bound).dicts()
    assert own


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("k=0", "?k"),
        ("k=1001", "?k"),
        ("k=1,x", "?k"),
        ("k=", "?k"),
        ("k=nan", "?k"),
        ("by=agent", "?by"),
        ("errors=count", "?errors"),
        ("window=7", "?window"),
        ("window=7d&since=3d", "?window"),
        ("at=nan", "?at"),
        ("tasks=a", "?tasks"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(client: httpx.Client, query: str, field: str) -> None:
    reply = client.get(f"/api/v1/reliability?{query}")
    assert reply.status_code == 400, reply.text
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json()["errors"][0]["field"] == field


def test_a_name_in_sql_clothing_finds_itself_only(get: Ask, store: Store) -> None:
    name = "t'); DROP TABLE runs; --"
    store.write_gradings(trials(name, "P.", project="i"))
    assert of(get("/api/v1/reliability", task=name, **WINDOW), task_id=name)["n"] == 2
    assert get("/api/v1/reliability", task="' OR ''='", **WINDOW)["tasks"] == []


def test_nothing_at_all_is_an_empty_answer(get: Ask) -> None:
    answer = get("/api/v1/reliability", window="1h", at="2001-01-01T00:00:00Z")
    assert answer["tasks"] == []
    assert answer["suite"]["pass_hat_k"] == {"1": None, "3": None, "5": None}
    assert answer["suite"]["tasks"] == 0


class Arriving:
    """A store where another trial of `moving` is graded after every question."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._asked = 0

    def query(self, sql: str, parameters: Any) -> Any:
        answer = self._store.query(sql, parameters)
        self._asked += 1
        self._store.write_gradings(trials("moving", "P.", project="moving", name=f"moving-{self._asked}"))
        return answer


def test_all_k_of_an_answer_are_of_one_moment(store: Store) -> None:
    store.write_gradings(trials("moving", "PP.", project="moving"))
    names = ("environment", "service", "service_version", "agent", "model", "task", "class", "version", "basis")
    bound = {**{name: [] for name in names}, "project": ["moving"], "errors": "", "incomplete": "", **VIEW_WINDOW}
    for view, rows in rates(
        cast("Store", Arriving(store)), ("task_reliability", "suite_reliability"), [1, 2], bound
    ).items():
        of_one = {k: [(row["n"], row["c"]) for row in found] for k, found in rows.items()}
        assert of_one[1], view
        assert of_one[1] == of_one[2], view
        for k, found in rows.items():
            for row in found:
                assert row["pass_hat_k"] == pytest.approx(math.comb(row["c"], k) / math.comb(row["n"], k))
