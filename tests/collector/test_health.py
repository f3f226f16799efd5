"""The state of a collector: which problems make it degraded, which refuse requests, and that each says what to do."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest

from collector.health import Filling, Health, Seen, Watch, health_of
from collector.metrics import Metrics
from collector.spool import SpoolStats


def seen(**fields: Any) -> Seen:
    spool = {"entries": 1, "bytes": 0, "oldest_received_ns": 0, "newest_seq": 1, "free_bytes": 1000, "broken": ""}
    given = {name: fields.pop(name) for name in list(fields) if name in spool}
    return Seen(SpoolStats(**{**spool, **given}), **{"max_bytes": 100, "min_free_bytes": 100, "errors": {}, **fields})


def test_nothing_wrong_is_ok_and_ready() -> None:
    assert health_of("running", seen(errors={"store": "", "tls": ""})) == Health("ok", True)


@pytest.mark.parametrize("phase", ["starting", "stopping"])
def test_before_and_after_it_is_not_ready(phase: Any) -> None:
    assert health_of(phase, seen()) == Health(phase, False)


@pytest.mark.parametrize(
    ("what", "stage", "ready", "says"),
    [
        ({"errors": {"store": "no route"}}, "store", True, "no route"),
        ({"errors": {"grade": "Code: 60"}}, "grade", True, "Code: 60"),
        ({"errors": {"upkeep": "Code: 60"}}, "upkeep", True, "Code: 60"),
        ({"errors": {"webhooks": "refused"}}, "webhooks", True, "refused"),
        ({"waited_s": 61.0}, "store", True, "waited 61 s"),
        ({"silent_s": 121.0}, "grade", True, "121 s"),
        ({"silent_s": 61.0, "at_work": "t1 of project p (100000 records)"}, "grade", True, "t1 of project p"),
        ({"bytes": 70}, "spool", True, "70% of spool.max_bytes"),
        ({"bytes": 90}, "spool", True, "logs are refused"),
        ({"bytes": 95}, "spool", True, "spans without a run id are refused"),
        ({"bytes": 100}, "spool", False, "all requests are refused"),
        ({"broken": "read-only"}, "spool", False, "read-only"),
        ({"free_bytes": 150}, "disk", True, "150 bytes are free"),
        ({"free_bytes": 99}, "disk", False, "requests are refused"),
    ],
)
def test_each_problem_says_what_it_is_and_what_to_do(what: Any, stage: str, ready: bool, says: str) -> None:
    told = health_of("running", seen(**what))
    [problem] = told.problems
    assert (told.state, told.ready, problem.stage, problem.refuses) == ("degraded", ready, stage, not ready)
    assert says in problem.error
    assert problem.hint


def test_what_refuses_comes_first() -> None:
    told = health_of("running", seen(errors={"store": "away"}, broken="read-only", waited_s=99.0))
    assert [one.stage for one in told.problems] == ["spool", "store"]


def test_the_time_until_the_spool_is_full() -> None:
    filling = Filling()
    assert filling.seconds_left(0.0, 100, 1000) == inf
    assert filling.seconds_left(10.0, 200, 1000) == 80
    assert filling.seconds_left(20.0, 1000, 1000) == 0
    assert filling.seconds_left(30.0, 50, 1000) == inf
    for second in range(31, 91):  # what is older than a minute is forgotten
        filling.seconds_left(float(second), 50, 1000)
    assert filling.seconds_left(92.0, 110, 1000) == 890


def test_changes_are_told_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "passhat.health")
    metrics, said = Metrics(), []
    looks = [seen(), seen(errors={"store": "away"}), seen(errors={"store": "still away"}), seen(broken="gone"), seen()]
    watch = Watch(lambda: health_of("running", looks.pop(0)), said.append, metrics)
    gauges = []
    while looks:
        watch.step()
        gauges.append(metrics.registry.get_sample_value("passhat_problems", {"stage": "store"}))
    assert said == [True, True, True, False, True]
    assert gauges == [None, 1, 1, 0, 0]
    assert [record.getMessage().split(" (")[0] for record in caplog.records] == [
        "degraded: store: away",
        "degraded: spool: gone",
        "well again: store",
        "well again: spool",
    ]
