"""Verdicts out again: as OTLP events through a refusing endpoint and a kill, and as webhooks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from tests.pipeline.test_cases import graded, post, told
from tests.support.serving import Serving, until
from tests.support.sink import Sink, sink

CHECKS: list[dict[str, Any]] = [
    {"id": "path", "kind": "order", "tools": ["get_order", "refund"], "gate": True},
    {"id": "never", "kind": "absence", "of": "call.tool == 'nothing'", "among": "call.tool == 'nothing'"},
]
Event = dict[str, Any]


def events(taken: Sink) -> list[Event]:
    """Every event that was taken, ids in hex and attributes as a dict."""
    found = []
    for request in [ExportLogsServiceRequest.FromString(one.body) for one in taken.posts]:
        for group in request.resource_logs:
            service = {a.key: a.value.string_value for a in group.resource.attributes}["service.name"]
            for scope in group.scope_logs:
                for log in scope.log_records:
                    attributes = {a.key: getattr(a.value, str(a.value.WhichOneof("value"))) for a in log.attributes}
                    ids = {"trace": log.trace_id.hex(), "span": log.span_id.hex()}
                    about = {"event": log.event_name, "service": service, "scope": scope.scope.name}
                    found.append({**attributes, **ids, **about})
    return found


def test_every_grading_is_told_at_least_once_through_refusals_and_a_kill(tmp_path: Path) -> None:
    with sink() as endpoint:
        endpoint.refuse = 503
        export = {"endpoint": f"{endpoint.url}/v1/logs", "timeout_s": 0.5, "headers": {"x-team": "a"}}
        serving = Serving(tmp_path, {"checks": CHECKS, "export": export})
        with serving:
            post(serving, "I17", "i17")
            runs = graded(serving, "i17", 3)
            until(lambda: endpoint.refused, bool)
            assert until(lambda: serving.get("/api/v1/status")["outward"]["export"]["error"], bool)
            serving.kill()
        assert endpoint.posts == []
        endpoint.refuse = 0
        with serving:
            until(lambda: events(endpoint), lambda got: len(got) >= 6)
            first = events(endpoint)
            names = {(one["passhat.run.id"], one["gen_ai.evaluation.name"]) for one in first}
            assert names == {(run["run_id"], name) for run in runs for name in ("path", "passhat.trial")}
            assert len({one["passhat.event.id"] for one in first}) == 6
            assert {one["event"] for one in first} == {"gen_ai.evaluation.result"}
            for one in first:
                run = told(serving, one["passhat.run.id"], "i17")
                assert one["trace"] == run["run"]["trace_ids"][0]
                assert f"{one['trace']}:{one['span']}" == run["run"]["run_id"]
                assert one["passhat.revision"] == run["run"]["revision"]
                results = {v["check_id"]: v["status"] for v in run["verdicts"]} | {
                    "passhat.trial": run["run"]["result"]
                }
                assert one["gen_ai.evaluation.score.label"] == results[one["gen_ai.evaluation.name"]]
            assert {post.headers["x-team"] for post in endpoint.posts} == {"a"}
            rejudged = next(run for run in runs if run["result"] == "pass")
            answer = httpx.post(
                f"http://{serving.web}/api/v1/outcomes",
                json={"project": "i17", "run_id": rejudged["run_id"], "result": "fail", "source": "environment"},
            )
            assert answer.status_code == 200
            again = until(lambda: events(endpoint)[6:], lambda got: any("passhat.outcome" in one for one in got))
            ids = {one["passhat.event.id"] for one in first}
            assert not ids & {one["passhat.event.id"] for one in again}  # other revisions, other ids
            assert serving.stop() == 0
        before = len(events(endpoint))
        with serving:
            serving.drained()
            post(serving, "I05", "i05")
            (other,) = graded(serving, "i05", 1)
            until(lambda: events(endpoint)[before:], bool)
            assert {one["passhat.run.id"] for one in events(endpoint)[before:]} == {other["run_id"]}
            ours_come_back(serving, endpoint)


def ours_come_back(serving: Serving, endpoint: Sink) -> None:
    """An endpoint that leads back here starts no circle."""
    count = len(events(endpoint))
    for one in list(endpoint.posts):
        reply = httpx.post(
            f"http://{serving.http}/v1/logs", content=one.body, headers={"Content-Type": "application/x-protobuf"}
        )
        assert reply.status_code == 200
    serving.drained()
    assert len(serving.get("/api/v1/runs")["runs"]) == 4
    post(serving, "I05", "later")
    graded(serving, "later", 1)
    until(lambda: events(endpoint)[count:], bool)
    assert {one["passhat.project"] for one in events(endpoint)[count:]} == {"later"}


@pytest.mark.parametrize("first_answer", [500, 200])
def test_a_failing_task_is_told_and_its_end(tmp_path: Path, first_answer: int) -> None:
    with sink() as hook:
        hook.refuse = 0 if first_answer == 200 else first_answer
        hooks = [{"url": f"{hook.url}/secret", "on": "fail", "headers": {"x-key": "k"}}]
        with Serving(tmp_path, {"checks": CHECKS, "webhooks": hooks}) as serving:
            post(serving, "I17", "i17")
            runs = graded(serving, "i17", 3)
            passed = [run for run in runs if run["result"] == "pass"]
            for run in runs:
                say(serving, run["run_id"], "fail")
            if hook.refuse:
                until(lambda: hook.refused, bool)
                hook.refuse = 0
            firing = json.loads(until(lambda: hook.posts, bool)[0].body)
            assert (firing["event"], firing["state"]) == ("fail", "firing")
            assert firing["details"]["task_id"] == passed[0]["task_id"]
            assert hook.posts[0].path == "/secret"
            if hook.refused:
                assert json.loads(hook.refused[0].body)["id"] == firing["id"]
            for run in runs:
                say(serving, run["run_id"], "pass")
            posts = until(lambda: [json.loads(one.body) for one in hook.posts], lambda got: len(got) == 2)
            assert [one["state"] for one in posts] == ["firing", "resolved"]
            assert len({one["key"] for one in posts}) == 1
            assert len({one["id"] for one in posts}) == 2
            status = serving.get("/api/v1/status")["outward"]["webhooks"]
            assert status == {"firing": 0, "error": "", "skipped": 0, "skipped_why": ""}


def say(serving: Serving, run_id: str, result: str) -> None:
    reply = httpx.post(
        f"http://{serving.web}/api/v1/outcomes",
        json={"project": "i17", "run_id": run_id, "result": result, "source": "environment"},
    )
    assert reply.status_code == 200, reply.text
