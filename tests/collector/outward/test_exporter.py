"""The exporter over a real store: gRPC, pages, where it begins, and gradings of one moment."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent import futures
from pathlib import Path
from typing import Any

import grpc
import pytest
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2 as messages
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2_grpc as service

from collector.config.keys import ExportConfig, StoreConfig, WebhookConfig
from collector.errors import StoreError
from collector.metrics import Metrics
from collector.outward import troubles
from collector.outward.exporter import FILE, Exporter
from collector.outward.feed import PAGE, graded_after
from collector.outward.webhooks import Webhooks
from collector.store.decisions import Decided
from collector.store.store import Store
from tests.collector.serve.made import grading, verdict
from tests.support.serving import until

VERDICTS = (
    verdict("broken", "error"),
    verdict("quiet", "not_applicable"),
    verdict("bad", "fail", gate=True, lines=(2,)),
)


class Taker(service.LogsServiceServicer):
    """Takes what comes, as any OTLP/gRPC server would."""

    def __init__(self) -> None:
        self.taken: list[dict[str, Any]] = []
        self.team: str | bytes = b""
        self.poison = b""
        self.code = grpc.StatusCode.INVALID_ARGUMENT

    def Export(self, request: messages.ExportLogsServiceRequest, context: grpc.ServicerContext) -> Any:
        self.team = dict(context.invocation_metadata()).get("x-team", b"")
        if self.poison and self.poison in request.SerializeToString():
            context.abort(self.code, "this will never do")
        for group in request.resource_logs:
            for log in (log for scope in group.scope_logs for log in scope.log_records):
                self.taken.append({a.key: getattr(a.value, str(a.value.WhichOneof("value"))) for a in log.attributes})
        return messages.ExportLogsServiceResponse()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One for all: every way out begins now, and each test has tasks of its own."""
    folder = tmp_path_factory.mktemp("store")
    opened = Store.open(StoreConfig(url=f"chdb:{folder / 'store'}"), folder)
    yield opened
    opened.close()


@pytest.fixture
def grpc_taker() -> Iterator[tuple[Taker, str]]:
    """A running server and its URL."""
    server, taker = grpc.server(futures.ThreadPoolExecutor(2)), Taker()
    service.add_LogsServiceServicer_to_server(taker, server)  # type: ignore[no-untyped-call]
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield taker, f"http://127.0.0.1:{port}"
    server.stop(1).wait()


def test_grpc_takes_everything_once_over_several_pages(
    store: Store, tmp_path: Path, grpc_taker: tuple[Taker, str]
) -> None:
    taker, url = grpc_taker
    config = ExportConfig(endpoint=url, protocol="grpc", headers={"X-Team": "a"})
    count = 3 * PAGE
    store.write_gradings([grading("before", "fail", verdicts=VERDICTS)])
    exporter = Exporter(store, config, tmp_path, Metrics())
    exporter.start()
    try:
        store.write_gradings([grading("open", "pending", closed_by="")])
        for start in range(0, count, 50):  # rows of one insert have one moment
            store.write_gradings([grading(f"r{n}", "fail", verdicts=VERDICTS) for n in range(start, start + 50)])
        until(lambda: taker.taken, lambda taken: len(taken) >= 3 * count)
    finally:
        exporter.stop()
    assert taker.team == "a"
    said = {(one["passhat.run.id"], one["gen_ai.evaluation.name"]) for one in taker.taken}
    assert said == {(f"r{n}", name) for n in range(count) for name in ("passhat.trial", "broken", "bad")}
    assert len({one["passhat.event.id"] for one in taker.taken}) == len(taker.taken) == 3 * count
    errors = {one["gen_ai.evaluation.name"]: one.get("error.type") for one in taker.taken}
    assert errors == {"passhat.trial": None, "broken": "check_error", "bad": None}


def test_since_says_where_the_first_time_begins_and_a_broken_file_is_an_error(store: Store, tmp_path: Path) -> None:
    store.write_gradings([grading("early")])
    Exporter(store, ExportConfig(endpoint="http://127.0.0.1:1", since=3600), tmp_path, Metrics()).stop()
    began = int((tmp_path / FILE).read_text().split(":")[-1].rstrip("}"))
    assert began < store.now_ns() - 3_599 * 10**9
    now = Exporter(store, ExportConfig(endpoint="http://127.0.0.1:2"), tmp_path, Metrics())
    now.stop()
    store.write_gradings([grading("late")])
    assert [run.run_id for run in graded_after(store, now.status()["sent_to_ns"]).runs] == ["late"]
    (tmp_path / FILE).write_text("{")
    with pytest.raises(StoreError, match=r"export\.json"):
        Exporter(store, ExportConfig(endpoint="http://127.0.0.1:1"), tmp_path, Metrics())


def test_the_newest_trial_says_whether_a_task_fails_in_whatever_order_they_are_graded(store: Store) -> None:
    newer = [
        grading("newer", "pass", at_s=100, task_id="ordered"),
        grading("newest", "error", at_s=200, task_id="ordered"),
    ]
    store.write_gradings(newer)
    read_to = store.now_ns()
    store.write_gradings([grading("older", "fail", at_s=0, task_id="ordered")])
    page = graded_after(store, read_to)
    assert [run.run_id for run in page.runs] == ["older"]
    assert [one.firing for one in troubles.failing_tasks(store, page.runs)] == [False]


def test_gates_fire_on_the_last_decision_that_was_not_a_replay(store: Store) -> None:
    def decided(name: str, decision: str, at: int, *, asked: int) -> None:
        answer = '{"reasons":["too few"]}'
        store.log_decision(Decided(f"{name}{asked}{decision}", name, "", decision, at, asked, "{}", answer))

    day = 1_793_000_000_000
    decided("merge", "allow", day, asked=day)
    decided("merge", "deny", day + 9_000, asked=day + 9_000)
    decided("merge", "allow", day, asked=day + 90_000)  # replayed
    decided("merge", "insufficient", day + 99_000, asked=day + 99_000)
    decided("", "deny", day, asked=day)
    (gate,) = troubles.gates(store)
    assert (gate.key, gate.firing, gate.details["reasons"]) == ("gate/merge/", True, ["too few"])
    decided("merge", "allow", day + 100_000, asked=day + 100_000)
    assert [one.firing for one in troubles.gates(store)] == [False]


def test_an_objective_that_burns_is_trouble(store: Store) -> None:
    windows = '[{"long":3600,"short":300,"burn":2.0}]'
    store.set_policy(slos=f'[{{"name":"most","task":"t","class":"","k":1,"target":0.9,"min_n":3,"windows":{windows}}}]')
    assert [one.firing for one in troubles.objectives(store)] == [False]


def test_hooks_are_told_though_one_of_them_is_away(store: Store, tmp_path: Path) -> None:
    from tests.support.sink import sink

    with sink() as hook:
        hooks = [
            WebhookConfig(url="http://127.0.0.1:1/x", on=("fail",)),
            WebhookConfig(url=f"{hook.url}/y", on=("fail",)),
        ]
        ways = Webhooks(store, hooks, tmp_path, Metrics())
        ways.start()
        try:
            store.write_gradings([grading("told", "fail", verdicts=VERDICTS, task_id="told")])
            (post,) = until(lambda: list(hook.posts), bool)
            assert b'"failed_checks":["bad"]' in post.body
            assert "127.0.0.1: ConnectError" in until(lambda: ways.status()["error"], bool)
        finally:
            ways.stop()
        assert hook.url not in (tmp_path / "webhooks.json").read_text()


def test_an_event_refused_for_good_is_left_out_and_costs_no_other(store: Store, tmp_path: Path) -> None:
    from tests.support.sink import sink

    with sink() as endpoint:
        endpoint.poison = b"x3"
        metrics = Metrics()
        config = ExportConfig(endpoint=f"{endpoint.url}/v1/logs", compression="none", timeout_s=2)
        exporter = Exporter(store, config, tmp_path, metrics)
        exporter.start()
        try:
            store.write_gradings([grading(f"x{n}", "fail", verdicts=VERDICTS) for n in range(8)])
            until(lambda: exporter.status()["skipped"], lambda skipped: skipped == 3)
            store.write_gradings([grading("later")])
            until(lambda: any(b"later" in post.body for post in endpoint.posts), bool)
        finally:
            exporter.stop()
    status = exporter.status()
    assert (status["error"], status["skipped_why"]) == ("", "bad of x3: it answered 400")
    taken = b"".join(post.body for post in endpoint.posts)
    assert all(f"x{n}".encode() in taken for n in range(8) if n != 3)
    assert b"x3" not in taken
    assert metrics.exported.labels("skipped")._value.get() == 3


def test_grpc_refusals_for_good_are_left_out_too(store: Store, tmp_path: Path, grpc_taker: tuple[Taker, str]) -> None:
    taker, url = grpc_taker
    taker.poison = b"g3"
    exporter = Exporter(store, ExportConfig(endpoint=url, protocol="grpc"), tmp_path, Metrics())
    exporter.start()
    try:
        store.write_gradings([grading(f"g{n}", "fail", verdicts=VERDICTS) for n in range(5)])
        until(lambda: exporter.status()["skipped"], lambda skipped: skipped == 3)
        assert exporter.status()["skipped_why"].endswith("it answered INVALID_ARGUMENT")
    finally:
        exporter.stop()
    assert {one["passhat.run.id"] for one in taker.taken} == {"g0", "g1", "g2", "g4"}


@pytest.mark.parametrize("status", [400, 401, 404])
def test_an_endpoint_that_takes_nothing_is_a_wrong_one_and_nothing_is_left_out(
    store: Store, tmp_path: Path, status: int
) -> None:
    from tests.support.sink import sink

    with sink() as endpoint:
        endpoint.refuse = status
        exporter = Exporter(store, ExportConfig(endpoint=f"{endpoint.url}/v1/logs"), tmp_path, Metrics())
        exporter.start()
        try:
            store.write_gradings([grading(f"kept{status}", "fail", verdicts=VERDICTS)])
            assert "they are kept" in until(lambda: exporter.status()["error"], bool)
            assert exporter.status()["skipped"] == 0
            endpoint.refuse = 0
            until(lambda: endpoint.posts, bool)
        finally:
            exporter.stop()


def test_a_post_that_a_hook_refuses_for_good_is_left_out(store: Store, tmp_path: Path) -> None:
    from tests.support.sink import sink

    with sink() as hook:
        hook.poison = b"badtask"
        ways = Webhooks(store, [WebhookConfig(url=f"{hook.url}/y", on=("fail",))], tmp_path, Metrics())
        ways.start()
        try:
            store.write_gradings([grading("r1x", "fail", task_id="badtask"), grading("r2", "fail", task_id="goodtask")])
            until(lambda: [post for post in hook.posts if b"goodtask" in post.body], bool)
            until(lambda: ways.status()["skipped"], lambda skipped: skipped == 1)
            assert ways.status()["skipped_why"] == "fail/default/badtask/: 127.0.0.1 answered 400"
            assert ways.status()["error"] == ""
        finally:
            ways.stop()
