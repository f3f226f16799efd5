"""Who may ask: tokens as the clients of ClickHouse send them, and no other page through a browser."""

from __future__ import annotations

import hashlib
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

TOKENS = {"reader": ("read", None), "sender": ("ingest", None), "boss": ("admin", None), "confined": ("read", "shop")}


def token(name: str, scope: Any, project: str | None) -> TokenConfig:
    return TokenConfig(name=name, sha256=hashlib.sha256(name.encode()).hexdigest(), scopes=(scope,), project=project)


@pytest.fixture(scope="module")
def guarded(store: Store) -> Iterator[httpx.Client]:
    auth = AuthConfig(tokens=tuple(token(name, *rest) for name, rest in TOKENS.items()))
    server = WebServer(
        web_app(store, lambda: {"ready": True}, Config(auth=auth), Metrics()), bind("127.0.0.1:0", "listen.web")
    )
    server.start()
    with httpx.Client(base_url=f"http://{server.address}", trust_env=False, timeout=30) as client:
        yield client
    server.stop()


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer reader"},
        {"Authorization": "Bearer boss"},
        {"Authorization": "Basic " + __import__("base64").b64encode(b"default:reader").decode()},
        {"X-ClickHouse-User": "grafana", "X-ClickHouse-Key": "reader"},
    ],
)
def test_every_way_a_client_sends_a_token(guarded: httpx.Client, headers: dict[str, str]) -> None:
    assert guarded.post("/clickhouse", content="SELECT 1", headers=headers).text == "1\n"


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({}, 401, "516"),
        ({"Authorization": "Bearer wrong"}, 401, "516"),
        ({"Authorization": "Basic ZGVmYXVsdDo="}, 401, "516"),
        ({"Authorization": "Basic not-base64!"}, 401, "516"),
        ({"Authorization": "Basic " + "ÿÿ"}, 401, "516"),
        ({"X-ClickHouse-Key": "wrong"}, 401, "516"),
        ({"Authorization": "Bearer sender"}, 403, "497"),
        ({"Authorization": "Bearer confined"}, 403, "497"),
    ],
)
def test_others_are_told_no_in_clickhouses_words(
    guarded: httpx.Client, headers: dict[str, str], status: int, code: str
) -> None:
    encoded = {name: value.encode() for name, value in headers.items()}
    reply = guarded.post("/clickhouse", content="SELECT 1", headers=encoded)
    assert (reply.status_code, reply.headers["X-ClickHouse-Exception-Code"]) == (status, code)
    assert reply.text.startswith(f"Code: {code}. DB::Exception: ")


def test_the_api_still_answers_with_problem_documents(guarded: httpx.Client) -> None:
    reply = guarded.get("/api/v1/runs")
    assert (reply.status_code, reply.headers["content-type"]) == (401, "application/problem+json")


def test_no_page_of_another_origin_may_ask(client: httpx.Client) -> None:
    reply = client.post("/clickhouse", content="SELECT 1", headers={"Origin": "https://elsewhere.example"})
    assert (reply.status_code, reply.headers["X-ClickHouse-Exception-Code"]) == (403, "497")


def test_no_rebound_name_may_ask(client: httpx.Client) -> None:
    reply = client.post("/clickhouse", content="SELECT 1", headers={"Host": "elsewhere.example"})
    assert (reply.status_code, reply.headers["X-ClickHouse-Exception-Code"]) == (421, "497")
    assert client.get("/clickhouse/ping", headers={"Host": "elsewhere.example"}).status_code == 421
