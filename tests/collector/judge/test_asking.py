"""The worker that asks models, over a real store and a real endpoint on loopback."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from collector.assemble import Policy
from collector.config.judge import JudgeConfig
from collector.config.keys import Config, RedactConfig, StoreConfig
from collector.grade.grader import Grader
from collector.grade.loop import GradeLoop
from collector.judge.asking import Judging
from collector.metrics import Metrics
from collector.rules import checks_of
from collector.store.store import Store
from graders.checks.judge import WAITING
from tests.collector.grade.test_loop import loop_over, put, span
from tests.support.judge_stub import FAIL, PASS, Stub, judge_stub
from tests.support.serving import until

TRACES = itertools.count(1)
ROOMY: dict[str, Any] = {"per_hour": {}, "per_day": {}, "retries": 0, "model": "m-1"}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder: Path = tmp_path_factory.mktemp("store")
    opened = Store.open(StoreConfig(url=f"chdb:{folder / 'store'}"), folder)
    yield opened
    opened.close()


@pytest.fixture
def stub() -> Iterator[Stub]:
    with judge_stub() as running:
        yield running


class Bench:
    """A grading loop and a judging worker with one `judge` check of the test's own."""

    def __init__(self, store: Store, folder: Path, criterion: str, **judge: Any) -> None:
        # one store for all: what an earlier test left is no run of this task
        self.task = criterion.replace(" ", "-")
        check = {"id": "polite", "kind": "judge", "criterion": criterion, "tasks": [self.task]}
        redact = RedactConfig(patterns=[r"SECRET-\d"])
        self.config = Config(checks=[check], judge=JudgeConfig(**judge), redact=redact, data=folder)
        self.store, self.metrics = store, Metrics()
        checks = checks_of(self.config)
        grader = Grader(checks, Policy(), store.register_checks(checks.digest, "{}"))
        self.loop: GradeLoop = loop_over(store, grader=grader)[0]
        self.judging: Judging | None = None

    def start(self) -> Judging:
        self.judging = Judging(self.store, self.config, self.metrics)
        self.judging.start()
        return self.judging

    def run(self, text: str = "x", trace: int = 0) -> str:
        """Send a finished run, graded; its id."""
        number = trace or next(TRACES)
        call = span(number, 2, 1, tool="look")
        said = {**call.attributes, "gen_ai.tool.call.arguments": json.dumps({"q": text})}
        put(self.store, span(number, 1, task=self.task), replace(call, attributes=said))
        self.grade()
        return f"{number:032x}"

    def grade(self) -> None:
        while self.loop.step() == 0.0 or self.loop.waiting:
            pass

    def verdict(self, run_id: str) -> tuple[str, str]:
        self.grade()
        sql = "SELECT status, reason FROM current_verdicts WHERE run_id = {run:String} AND kind = 'judge'"
        (found,) = self.store.query(sql, {"run": run_id}).rows
        return (found[0], found[1])

    def answered(self, run_id: str) -> tuple[str, str]:
        return until(lambda: self.verdict(run_id), lambda said: said[1] != WAITING)

    def rows(self, run_id: str) -> list[dict[str, Any]]:
        sql = "SELECT * FROM judgements FINAL WHERE run_id = {run:String} ORDER BY asked_ns"
        return self.store.query(sql, {"run": run_id}).dicts()


@contextmanager
def bench(store: Store, folder: Path, criterion: str, **judge: Any) -> Iterator[Bench]:
    made = Bench(store, folder, criterion, **{**ROOMY, **judge})
    try:
        yield made
    finally:
        if made.judging is not None:
            made.judging.stop()


def test_an_answer_comes_later_as_a_new_revision(store: Store, tmp_path: Path, stub: Stub) -> None:
    stub.says = lambda _: FAIL
    price = {"input": 10, "output": 100}
    with bench(store, tmp_path, "one", url=stub.url, api_key="k", price=price, parameters={"seed": "7"}) as made:
        made.start()
        run = made.run()
        assert made.answered(run) == ("fail", "It does not.")
        (asked,) = stub.asked
        assert (asked.headers["authorization"], asked.body["model"], asked.body["seed"]) == ("Bearer k", "m-1", 7)
        assert asked.text.startswith("Criterion: one\n")
        (row,) = made.rows(run)
        told = (row["calls"], row["input_tokens"], row["output_tokens"], row["answered"], row["lines"])
        assert told == (1, 100, 10, "gpt-x-1", [1])
        assert row["cost_usd"] == pytest.approx(0.002)
        revisions = "SELECT status FROM verdicts FINAL WHERE run_id = {run:String} ORDER BY revision"
        assert store.query(revisions, {"run": run}).rows == [("unknown",), ("fail",)]
        result = store.query("SELECT result, trajectory FROM trials WHERE run_id = {run:String}", {"run": run}).rows
        assert result == [("unknown", "")]  # nothing gates: what a model says moves no result


def test_the_other_form_of_api(store: Store, tmp_path: Path, stub: Stub) -> None:
    with bench(store, tmp_path, "two", url=stub.url, api="anthropic", api_key="k") as made:
        made.start()
        assert made.answered(made.run()) == ("pass", "It does.")
        (asked,) = stub.asked
        assert (asked.headers["x-api-key"], asked.headers["anthropic-version"]) == ("k", "2023-06-01")
        assert asked.body["max_tokens"] == 1024
        assert [one["role"] for one in asked.body["messages"]] == ["user"]


def test_the_same_content_is_asked_once_and_another_again(store: Store, tmp_path: Path, stub: Stub) -> None:
    with bench(store, tmp_path, "three", url=stub.url) as made:
        made.start()
        first, number = made.run("same"), next(TRACES)
        assert made.answered(first)[0] == "pass"
        twin = made.run("same", trace=number)
        assert made.answered(twin) == ("pass", "It does.")
        assert len(stub.asked) == 1
        assert [row["calls"] for row in made.rows(twin)] == [0]
        put(store, span(number, 3, 1, tool="late"))
        until(lambda: made.verdict(twin) and len(stub.asked), lambda count: count == 2)
        assert made.answered(twin)[0] == "pass"
        assert '"late"' in stub.asked[1].text


def test_what_cannot_be_read_is_unknown_and_not_asked_again(store: Store, tmp_path: Path, stub: Stub) -> None:
    stub.raw = b"no json"
    with bench(store, tmp_path, "raw", url=stub.url, retries=3) as made:
        made.start()
        run = made.run()
        assert made.answered(run) == ("unknown", "The judge's answer could not be read.")
        assert made.rows(run)[0]["input_tokens"] > 100  # estimated: nobody counted
        assert len(stub.asked) == 1


def test_a_failing_endpoint_is_tried_again_with_a_limit_and_costs_no_other_run(
    store: Store, tmp_path: Path, stub: Stub
) -> None:
    stub.statuses = [500, 200, 400]
    with bench(store, tmp_path, "five", url=stub.url, retries=1) as made:
        made.start()
        assert made.answered(made.run("a"))[0] == "pass"
        assert made.answered(made.run("b")) == ("error", "The judge broke: it answered 400.")
        assert made.answered(made.run("c"))[0] == "pass"
        assert len(stub.asked) == 4


def test_a_model_that_thinks_keeps_no_grading_waiting(store: Store, tmp_path: Path, stub: Stub) -> None:
    stub.hold.clear()
    with bench(store, tmp_path, "six", url=stub.url) as made:
        made.start()
        first = made.run("a")
        until(lambda: stub.asked, bool)
        second = made.run("b")  # graded while the question is out
        assert made.verdict(second) == made.verdict(first) == ("unknown", WAITING)
        assert len(stub.asked) == 1
        stub.hold.set()
        assert made.answered(second)[0] == made.answered(first)[0] == "pass"


def test_a_closed_door_loses_no_question(store: Store, tmp_path: Path, stub: Stub) -> None:
    stub.status = 401
    with bench(store, tmp_path, "door", url=stub.url) as made:
        run = made.run()
        judging = made.start()
        assert judging.status()["held"] == ""
        second = made.run("more")
        held = until(lambda: judging.status()["held"], bool)
        assert held == "it answered 401"
        assert made.verdict(second) == ("unknown", WAITING)
        judging.stop()
        stub.status = 200
        made.start()  # goes on where it was, from its file
        assert made.answered(second)[0] == "pass"
        assert made.verdict(run) == ("unknown", WAITING)  # graded before the very first start


def test_a_closed_door_is_logged_once_when_it_closes_and_opens(
    store: Store, tmp_path: Path, stub: Stub, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("collector.judge.asking.HOLD_S", 0.05)
    caplog.set_level("INFO", "passhat.judge")
    stub.status = 401
    with bench(store, tmp_path, "shut", url=stub.url) as made:
        judging = made.start()
        run = made.run()
        until(lambda: stub.asked[2:], bool)
        stub.status = 200
        assert made.answered(run)[0] == "pass"
        assert until(lambda: judging.status()["held"] == "", bool)
    told = [record.getMessage() for record in caplog.records if record.name == "passhat.judge"]
    assert told == ["the judge is not asked, 1 verdicts wait: it answered 401", "the judge is asked again"]


def test_nobody_there_is_given_up_after_a_time(store: Store, tmp_path: Path) -> None:
    with bench(store, tmp_path, "nobody", url="http://127.0.0.1:1/v1/messages", wait=0) as made:
        made.start()
        assert made.answered(made.run()) == ("unknown", "The judge was not asked in time: 127.0.0.1: ConnectError.")


def test_the_budget_holds_over_restarts(store: Store, tmp_path: Path, stub: Stub) -> None:
    spent = store.judgements.spent(store.now_ns())[0].calls
    with bench(store, tmp_path, "budget", url=stub.url, per_hour={"calls": spent + 1}) as made:
        judging = made.start()
        assert made.answered(made.run("a"))[0] == "pass"
        waiting = made.run("b")
        held = until(lambda: judging.status()["held"], bool)
        assert held == f"judge.per_hour.calls ({spent + 1}) is used up"
        assert judging.status()["waiting"] == 1
        judging.stop()
        again = made.start()
        assert until(lambda: again.status()["held"], bool) == held
        assert made.verdict(waiting) == ("unknown", WAITING)
        assert len(stub.asked) == 1


def test_secrets_leave_neither_in_a_question_nor_in_a_reason(store: Store, tmp_path: Path, stub: Stub) -> None:
    stub.says = lambda _: PASS.replace("It does.", "It read SECRET-7.")
    with bench(store, tmp_path, "redacted", url=stub.url) as made:
        made.start()
        status, reason = made.answered(made.run("SECRET-7"))
        assert (status, reason[:19]) == ("pass", "It read [redacted:p")
        assert "SECRET-7" not in stub.asked[0].text
        assert '{"q":"[redacted:' in stub.asked[0].text
