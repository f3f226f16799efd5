"""The endpoint in front of a ClickHouse server: through a user who may only read, or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from collector.config import Config
from collector.config.keys import StoreConfig
from collector.listen import WebServer, bind
from collector.metrics import Metrics
from collector.serve.app import web_app
from collector.store.store import Store
from tests.collector.serve.clickhouse.conftest import Bait
from tests.collector.serve.clickhouse.statements import statements
from tests.support.stores import Front


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, str]]:
    front = Front(tmp_path_factory.mktemp("front") / "engine")
    url = front.place().url.rpartition("/")[0] + "/passhat"
    store = Store.open(StoreConfig(url=url), tmp_path_factory.mktemp("data"))
    yield store, url
    store.close()
    front.stop()


def served(store: Store, **place: Any) -> Iterator[httpx.Client]:
    app = web_app(store, lambda: {"ready": True}, Config(store=StoreConfig(**place)), Metrics())
    listening = WebServer(app, bind("127.0.0.1:0", "listen.web"))
    listening.start()
    with httpx.Client(base_url=f"http://{listening.address}", trust_env=False, timeout=30) as client:
        yield client
    app.state.sql.close()
    listening.stop()


@pytest.fixture(scope="module")
def reader(server: tuple[Store, str]) -> Iterator[httpx.Client]:
    store, url = server
    yield from served(store, url=url, reader_url=f"{url}?readonly=2")


@pytest.mark.parametrize("sql", statements("legitimate.sql"))
def test_people_are_answered(reader: httpx.Client, sql: str) -> None:
    reply = reader.post("/clickhouse", content=sql)
    assert reply.status_code == 200, reply.text


@pytest.mark.parametrize("sql", statements("attacks.sql"))
def test_attacks_are_refused(reader: httpx.Client, bait: Bait, sql: str) -> None:
    reply = reader.post("/clickhouse", content=bait.into(sql))
    assert reply.status_code in (400, 403, 404), reply.text
    assert bait.untouched(reply.text)


def test_parameters_arrive_as_they_were_sent(reader: httpx.Client) -> None:
    sql = "SELECT {a:String}, {b:Array(String)}, '%d %s' LIKE '%s' FORMAT TSVRaw"
    reply = reader.post("/clickhouse", params={"param_a": "it's\\ta \\\\ x", "param_b": "['x','y\\'z']"}, content=sql)
    assert reply.text == "it's\ta \\ x\t['x','y\\'z']\t1\n"


def test_the_handshake(reader: httpx.Client) -> None:
    asked = {"default_format": "Native", "client_protocol_version": "54460"}
    sql = "SELECT displayName(), version(), revision(), timezone()"
    assert b"passhat" in reader.post("/clickhouse", params=asked, content=sql).content


@pytest.mark.parametrize("readonly", ["", "?readonly=0"])
def test_a_user_who_may_write_is_not_used(server: tuple[Store, str], readonly: str) -> None:
    store, url = server
    opened = served(store, url=url, reader_url=url + readonly)
    reply = next(opened).post("/clickhouse", content="SELECT 1")
    assert (reply.status_code, reply.headers["X-ClickHouse-Exception-Code"]) == (403, "497")
    assert "may write" in reply.text
    next(opened, None)


def test_without_a_reader_sql_is_off(server: tuple[Store, str]) -> None:
    store, url = server
    opened = served(store, url=url)
    reply = next(opened).post("/clickhouse", content="SELECT 1")
    assert (reply.status_code, reply.headers["X-ClickHouse-Exception-Code"]) == (403, "497")
    assert "store.reader_url" in reply.text
    next(opened, None)


def test_a_reader_who_is_away_is_an_error_and_no_password_is_shown(server: tuple[Store, str], tmp_path: Path) -> None:
    store, url = server
    opened = served(store, url=url, reader_url="clickhouse://reader:hunter2@127.0.0.1:1/passhat")
    reply = next(opened).post("/clickhouse", content="SELECT 1")
    assert reply.status_code == 503
    assert "does not answer" in reply.text
    assert "hunter2" not in reply.text
    next(opened, None)
