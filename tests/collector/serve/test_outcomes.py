"""Outcomes over the API: all or none, named faults, who may say what."""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from collector.config import Config
from collector.config.keys import AuthConfig, TokenConfig
from collector.listen import WebServer, bind
from collector.metrics import Metrics
from collector.serve.app import web_app
from collector.store.store import Store
from tests.collector.serve.made import grading

URL = "/api/v1/outcomes"


@pytest.fixture(scope="module", autouse=True)
def known(store: Store) -> None:
    store.write_gradings([grading("known"), grading("known", project="p")])


def said(store: Store, run_id: str, project: str = "default") -> list[tuple[str, str]]:
    return [(one.source, one.result) for one in store.outcomes_of([(project, run_id)]).get((project, run_id), [])]


def test_one_or_a_list(client: httpx.Client, store: Store) -> None:
    one = client.post(URL, json={"run_id": "known", "result": "pass", "source": "environment", "score": 1})
    assert one.status_code == 200
    assert one.json()["outcomes"] == [{"run_id": "known", "project": "default", "result": "pass", "known": True}]
    many = client.post(URL, json=[{"run_id": f"many{n}", "result": "fail", "reason": "r\n"} for n in range(3)])
    assert (many.status_code, many.json()["accepted"]) == (202, 3)
    assert said(store, "known") == [("environment", "pass")]
    assert said(store, "many2") == [("harness", "fail")]


def test_an_outcome_may_come_before_its_run(client: httpx.Client) -> None:
    reply = client.post(URL, json={"run_id": "not/yet known\n", "result": "error"})
    assert reply.status_code == 202
    assert reply.json()["outcomes"][0]["known"] is False


def test_a_repeated_statement_with_an_id_is_one(client: httpx.Client, store: Store) -> None:
    for _ in range(2):
        client.post(URL, json={"run_id": "idem", "result": "pass", "id": "job-7"}).raise_for_status()
    assert said(store, "idem") == [("harness", "pass")]


GOOD = {"run_id": "all-or-none", "result": "pass"}


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"run_id": "x"}, 422, "/result"),
        ({"result": "pass"}, 422, "/run_id"),
        ({"run_id": "", "result": "pass"}, 422, "/run_id"),
        ({"run_id": 7, "result": "pass"}, 422, "/run_id"),
        ({"run_id": "x", "result": "passed"}, 422, "/result"),
        ({"run_id": "x", "result": "pass", "source": "check"}, 422, "/source"),
        ({"run_id": "x", "result": "pass", "sauce": "human"}, 422, "/sauce"),
        ({"run_id": "x", "result": "pass", "score": "1"}, 422, "/score"),
        ({"run_id": "x", "result": "pass", "score": True}, 422, "/score"),
        ({"run_id": "x", "result": "pass", "time": "yesterday"}, 422, "/time"),
        ({"run_id": "x", "result": "pass", "time": "2199-01-01T00:00:00Z"}, 422, "/time"),
        ([GOOD, {"run_id": "x", "result": 1}], 422, "/1/result"),
        ([], 422, "/"),
        ([GOOD] * 1001, 422, "/"),
        ("pass", 422, "/"),
    ],
)
def test_every_fault_is_named_and_nothing_is_kept(
    client: httpx.Client, store: Store, body: Any, status: int, field: str
) -> None:
    reply = client.post(URL, json=body)
    assert reply.status_code == status, reply.text
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json()["errors"][0]["field"] == field
    assert said(store, "all-or-none") == []


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b'{"run_id": "x", "result": "pass", "score": NaN}', 400),
        (b"\xff\xfe", 400),
        (b"", 400),
        (b"[" * 100_000, 400),
        (b'"' + b"x" * (5 << 20) + b'"', 413),
    ],
)
def test_what_is_no_json_is_refused(client: httpx.Client, body: bytes, status: int) -> None:
    reply = client.post(URL, content=body, headers={"Content-Type": "application/json"})
    assert reply.status_code == status
    assert reply.json()["status"] == status


@pytest.mark.parametrize("media", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_a_form_of_another_page_is_refused(client: httpx.Client, media: str) -> None:
    reply = client.post(URL, content=json.dumps(GOOD).encode(), headers={"Content-Type": media} if media else {})
    assert reply.status_code == 415


def test_a_page_of_another_origin_may_not_write(client: httpx.Client, store: Store) -> None:
    reply = client.post(URL, json=GOOD, headers={"Origin": "http://evil.example"})
    assert reply.status_code == 403
    assert said(store, "all-or-none") == []
    own = f"http://{client.base_url.host}:{client.base_url.port}"
    assert client.post(URL, json={"run_id": "own-origin", "result": "pass"}, headers={"Origin": own}).status_code == 202


def test_a_rebound_name_is_refused_even_for_reading(client: httpx.Client) -> None:
    reply = client.get("/api/v1/runs", headers={"Host": "evil.example"})
    assert reply.status_code == 421
    assert client.get("/healthz", headers={"Host": "10.0.0.7:8317"}).status_code == 200


def token(name: str, *scopes: Any, project: str | None = None) -> TokenConfig:
    return TokenConfig(name=name, sha256=hashlib.sha256(name.encode()).hexdigest(), scopes=scopes, project=project)


@pytest.fixture(scope="module")
def guarded(store: Store) -> Iterator[httpx.Client]:
    tokens = (
        token("reads", "read"),
        token("tells", "ingest"),
        token("labels", "label"),
        token("mine", "admin", project="p"),
    )
    app = web_app(store, dict, Config(auth=AuthConfig(tokens=tokens)), Metrics())
    server = WebServer(app, bind("127.0.0.1:0", "listen.web"))
    server.start()
    with httpx.Client(base_url=f"http://{server.address}", trust_env=False, timeout=30) as asked:
        yield asked
    server.stop()


def as_(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {name}"}


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/runs",
        "/api/v1/runs/known",
        "/api/v1/reliability",
        "/api/v1/status",
        "/metrics",
        "/docs",
        "/openapi.json",
    ],
)
def test_with_tokens_nothing_is_open_but_health(guarded: httpx.Client, path: str) -> None:
    reply = guarded.get(path)
    assert (reply.status_code, reply.headers["www-authenticate"]) == (401, "Bearer")
    assert reply.headers["content-type"] == "application/problem+json"
    assert guarded.get(path, params={"token": "reads"}).status_code == 401  # never in a URL
    assert (
        guarded.get(path, headers=as_("reads"), params={"project": "default"} if "known" in path else {}).status_code
        == 200
    )
    assert guarded.get("/healthz").status_code == 200
    assert guarded.get("/readyz").status_code == 200


@pytest.mark.parametrize(
    ("who", "source", "status"),
    [
        ("reads", "harness", 403),
        ("tells", "harness", 202),
        ("tells", "human", 403),
        ("labels", "human", 202),
        ("mine", "human", 202),
    ],
)
def test_scopes_say_who_may_say_what(guarded: httpx.Client, who: str, source: str, status: int) -> None:
    body = {"run_id": f"{who}-{source}", "result": "pass", "source": source}
    assert guarded.post(URL, json=body, headers=as_(who)).status_code == status


def test_a_token_of_one_project_reads_and_writes_that_project(guarded: httpx.Client, store: Store) -> None:
    own = as_("mine")
    guarded.post(URL, json={"run_id": "known", "result": "fail"}, headers=own).raise_for_status()
    assert said(store, "known", "p") == [("harness", "fail")]
    assert (
        guarded.post(URL, json={"run_id": "known", "result": "fail", "project": "default"}, headers=own).status_code
        == 403
    )
    assert {run["project"] for run in guarded.get("/api/v1/runs", headers=own).json()["runs"]} == {"p"}
    assert guarded.get("/api/v1/runs", params={"project": "default"}, headers=own).status_code == 403
    assert guarded.get("/api/v1/runs/known", headers=own).json()["run"]["project"] == "p"
