"""Reliability as Prometheus gauges: the rows of the view, absent where unknown, no more series than the cap."""

from __future__ import annotations

import httpx
from prometheus_client.parser import text_string_to_metric_families

from collector.serve import task_gauges
from collector.store.store import Store
from tests.collector.serve.made import NOON_NS, grading

ODD = 'say "hi"\n{x="y"}'


def told(client: httpx.Client) -> dict[str, dict[str, float]]:
    """Value by task of each gauge of tasks."""
    reply = client.get("/metrics")
    assert reply.status_code == 200
    return {
        family.name: {sample.labels.get("task_id", ""): sample.value for sample in family.samples}
        for family in text_string_to_metric_families(reply.text)
        if family.name.startswith("passhat_task")
    }


def test_gauges_are_the_rows_of_the_view_and_capped(store: Store, client: httpx.Client) -> None:
    back_s = (store.now_ns() - NOON_NS) / 1e9
    made = [
        grading(f"{task}/{n}", "pass" if n else "fail", at_s=back_s - 60 - n, task_id=task)
        for task, trials in (("book", 4), ("rare", 2), (ODD, 3))
        for n in range(trials)
    ]
    made += [grading(f"many/{n}", at_s=back_s - 60, task_id=f"m{n:03}") for n in range(task_gauges.MOST_TASKS)]
    store.write_gradings(made)
    gauges = told(client)
    assert gauges["passhat_task_trials"]["book"] == 4
    assert gauges["passhat_task_passed"]["book"] == 3
    assert gauges["passhat_task_pass_hat_3"] == {"book": 0.25, ODD: 0.0}
    assert gauges["passhat_task_pass_hat_3_low"]["book"] < 0.25 < gauges["passhat_task_pass_hat_3_high"]["book"]
    assert len(gauges["passhat_task_trials"]) == task_gauges.MOST_TASKS
    assert gauges["passhat_tasks_left_out"] == {"": 3}


def test_they_are_not_read_at_every_scrape(store: Store, client: httpx.Client) -> None:
    before = told(client)
    back_s = (store.now_ns() - NOON_NS) / 1e9
    store.write_gradings([grading(f"new/{n}", at_s=back_s - 60, task_id="book") for n in range(9)])
    assert told(client) == before
