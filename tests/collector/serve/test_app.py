"""What every call has in common: problem documents, headers, documentation, health, metrics."""

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from prometheus_client.parser import text_string_to_metric_families

from collector.config import Config
from collector.errors import Overloaded, StoreError
from collector.listen import WebServer, bind
from collector.metrics import Metrics
from collector.serve.app import web_app
from collector.store.store import Store
from tests.collector.serve.made import grading

Ask = Callable[..., Any]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nope", 404),
        ("GET", "/api/v1/runs/", 404),
        ("GET", "/api/v2/runs", 404),
        ("POST", "/api/v1/runs", 405),
        ("DELETE", "/api/v1/outcomes", 405),
        ("GET", "/api/v1/outcomes", 405),
        ("GET", "/%00%0d%0aX-Evil:1", 404),
    ],
)
def test_every_error_is_a_problem_document(client: httpx.Client, method: str, path: str, status: int) -> None:
    reply = client.request(method, path)
    assert reply.status_code == status
    assert reply.headers["content-type"] == "application/problem+json"
    body = reply.json()
    assert (body["status"], body["type"]) == (status, "about:blank")
    assert body["title"]
    assert body["detail"]
    assert "x-evil" not in reply.headers
    if status == 405:
        assert reply.headers["allow"]


def test_exports_sent_here_are_shown_the_way_and_counted(app: FastAPI, client: httpx.Client, get: Ask) -> None:
    reply = client.post("/v1/traces", json={})
    assert reply.status_code == 404
    assert reply.json()["detail"].endswith(f": OTLP/HTTP listens at {app.state.config.listen.http}")
    assert "OTLP" not in client.get("/v1/traces").json()["detail"]
    assert get("/api/v1/status")["refused"] == {"not_served": 1}
    app.state.metrics.refused.remove("traces", "not_served")


def test_a_browser_is_led_to_the_calls(client: httpx.Client) -> None:
    reply = client.get("/", follow_redirects=True)
    assert (reply.status_code, reply.url.path) == (200, "/docs")


def test_a_fault_of_ours_is_told_without_its_inside(
    app: FastAPI, client: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> None:
        raise RuntimeError("secret inside")

    app.add_api_route("/test/broken", broken)
    reply = client.get("/test/broken")
    assert reply.status_code == 500
    assert reply.headers["content-type"] == "application/problem+json"
    assert "secret" not in reply.text
    assert "secret inside" in caplog.text


@pytest.mark.parametrize(
    ("error", "status"), [(StoreError("the store is away", hint="wait"), 503), (Overloaded("too much"), 503)]
)
def test_what_may_work_later_says_so(app: FastAPI, client: httpx.Client, error: Exception, status: int) -> None:
    def later() -> None:
        raise error

    path = f"/test/{type(error).__name__}"
    app.add_api_route(path, later)
    # A connection of its own: an earlier test's fault may have cost the shared one.
    reply = httpx.get(f"{client.base_url}".rstrip("/") + path)
    assert (reply.status_code, reply.headers["retry-after"]) == (status, "1")
    assert reply.json()["detail"] == str(error)


def test_replies_are_neither_sniffed_nor_kept(client: httpx.Client) -> None:
    reply = client.get("/api/v1/runs")
    assert (reply.headers["x-content-type-options"], reply.headers["cache-control"]) == ("nosniff", "no-store")


def test_the_documentation_names_every_call_and_loads_nothing(client: httpx.Client) -> None:
    document = client.get("/openapi.json").json()
    page = client.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    for path in document["paths"]:
        assert path.replace("{", "{") in page.text
    assert {"/api/v1/runs", "/api/v1/outcomes", "/api/v1/reliability", "/api/v1/status", "/metrics"} <= set(
        document["paths"]
    )
    assert not re.search(r"(src|href)=.?(https?:)?//", page.text)
    assert "default-src 'none'" in page.headers["content-security-policy"]
    names = {one["name"] for one in document["paths"]["/api/v1/reliability"]["get"]["parameters"]}
    assert {"project", "class", "k", "window", "errors", "by", "at"} <= names


def test_health_is_told_without_a_token_and_without_details(client: httpx.Client) -> None:
    assert client.get("/healthz").json() == {"status": "alive", "health": "ok", "problems": []}
    assert client.get("/readyz").json() == {"status": "ready", "health": "ok", "problems": []}
    assert client.head("/healthz").status_code == 200


def test_a_pipeline_that_does_not_accept_is_not_ready(store: Store) -> None:
    server = WebServer(web_app(store, lambda: {"ready": False}, Config(), Metrics()), bind("127.0.0.1:0", "listen.web"))
    server.start()
    try:
        reply = httpx.get(f"http://{server.address}/readyz", trust_env=False)
    finally:
        server.stop()
    assert reply.status_code == 503
    assert reply.headers["content-type"] == "application/problem+json"


def test_metrics_are_what_prometheus_reads(app: FastAPI, client: httpx.Client) -> None:
    app.state.metrics.accepted.labels("traces").inc(3)
    text = client.get("/metrics").text
    values = {sample.name: sample.value for family in text_string_to_metric_families(text) for sample in family.samples}
    assert values["passhat_accepted_total"] == 3


def test_status_counts_and_says_what_is_in_the_way(app: FastAPI, get: Ask, store: Store) -> None:
    metrics: Metrics = app.state.metrics
    metrics.refused.labels("traces", "too_large").inc(2)
    metrics.refused.labels("logs", "too_large").inc()
    metrics.graded.labels("pass").inc()
    now_s = store.now_ns() / 1e9 - 1_793_000_000
    waiting = [grading(f"w{n}", "unknown", reason="awaiting_outcome", at_s=now_s - 60) for n in range(3)]
    store.write_gradings(
        [*waiting, grading("open", "pending", at_s=now_s - 60), grading("old", "incomplete", at_s=-86400)]
    )
    told = get("/api/v1/status")
    assert told["refused"] == {"too_large": 3}
    assert told["graded"] == {"pass": 1}
    assert told["ready"] is True
    assert [(one["reason"], one["runs"]) for one in told["blocked"]] == [("awaiting_outcome", 3), ("pending", 1)]
    assert all(one["fix"] for one in told["blocked"])
