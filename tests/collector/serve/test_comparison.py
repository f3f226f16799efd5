"""Windows, models, agents and versions against each other, task by task; and when rates changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from collector.store.store import Store
from tests.collector.serve.made import grading

Ask = Callable[..., Any]
DAY = 86_400
MONTH = {"since": "2026-09-26T12:00:00Z", "until": "2026-10-26T12:00:00Z"}


def runs(task: str, marks: str, **told: Any) -> list[Any]:
    """One run a mark, six a day, the last one at noon."""
    name = "/".join(str(one) for one in told.values())
    return [
        grading(f"{task}/{name}/{n}", "pass" if mark == "P" else "fail", at_s=-(len(marks) - n) * DAY / 6,
                task_id=task, **told)
        for n, mark in enumerate(marks)
    ]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def gradings(store: Store) -> None:
    made = []
    for n in range(9):
        made += runs(f"t{n}", "P" * 60, model="old", service_version="1")
        made += runs(f"t{n}", ("PFFFFF" if n == 0 else "PPPPPP") * 10, model="new", service_version="2")
    made += runs("only-old", "P" * 60, model="old", service_version="1")
    made += runs("fell", "P" * 60 + "PFFPFF" * 10, project="other", model="m")
    store.write_gradings(made)


@pytest.mark.parametrize(("name", "this", "other"), [("model", "new", "old"), ("service_version", "2", "1")])
def test_two_sides_of_one_window_are_paired_by_task(get: Ask, name: str, this: str, other: str) -> None:
    asked = {**MONTH, "k": 1, name: this, "against": f"{name}={other}", "project": "default"}
    answer = get("/api/v1/comparison", **asked)
    assert answer["window"] == answer["before"]
    assert answer["against"] == {name: [other]}
    [told] = answer["comparisons"]
    assert (told["tasks_used"], told["pass_hat_k_before"]) == (9, 1.0)
    assert told["difference"] == pytest.approx(-(50 / 60) / 9)
    assert told["low"] < told["difference"] < told["high"]
    worst, *rest = told["tasks"]
    assert (worst["task_id"], worst["moved"]) == ("t0", "worse")
    assert (worst["before_n"], worst["before_c"], worst["now_n"], worst["now_c"]) == (60, 60, 60, 10)
    assert {task["moved"] for task in rest} == {""}


def test_the_other_way_round_is_better(get: Ask) -> None:
    asked = {**MONTH, "k": 1, "model": "old", "against": "model=new", "project": "default"}
    [told] = get("/api/v1/comparison", **asked)["comparisons"]
    assert [task["moved"] for task in told["tasks"]] == [""] * 8 + ["better"]


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"against": "model=old"}, "?model"),
        ({"against": "model=old", "model": "old"}, "?model"),
        ({"against": "task=t0", "task": "t1"}, "?against"),
        ({"against": "model", "model": "new"}, "?against"),
    ],
)
def test_sides_that_are_not_told_apart_are_refused(client: httpx.Client, asked: dict[str, str], field: str) -> None:
    reply = client.get("/api/v1/comparison", params=asked)
    assert reply.status_code == 400, reply.text
    assert reply.json()["errors"][0]["field"] == field


def test_a_change_is_told_with_its_day_and_filters_narrow_where_it_is_looked_for(get: Ask) -> None:
    [told] = get("/api/v1/changes", **MONTH)["changes"]
    assert (told["project"], told["task_id"], told["change"], told["tasks"]) == ("other", "fell", "drop", 1)
    assert told["changed_on"] == "2026-10-16"
    assert told["c_before"] / told["n_before"] > 0.95 > 0.5 > told["c_after"] / told["n_after"]
    assert get("/api/v1/changes", **MONTH, model="old")["changes"] == []
