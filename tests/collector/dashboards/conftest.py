"""A store with a fortnight of runs, and the SQL endpoint over it on a real socket: once for all tests here."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from collector.config import Config
from collector.config.keys import StoreConfig
from collector.listen import WebServer, bind
from collector.metrics import Metrics
from collector.serve.app import web_app
from collector.store.store import Store
from tests.support.live import fill


@pytest.fixture(scope="module")
def now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, now: dt.datetime) -> Iterator[Store]:
    data: Path = tmp_path_factory.mktemp("live")
    opened = Store.open(StoreConfig(url=f"chdb:{data}"), data)
    fill(opened, now)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def client(store: Store) -> Iterator[httpx.Client]:
    app = web_app(store, lambda: {"ready": True}, Config(), Metrics())
    server = WebServer(app, bind("127.0.0.1:0", "listen.web"))
    server.start()
    with httpx.Client(base_url=f"http://{server.address}", trust_env=False, timeout=60) as opened:
        yield opened
    app.state.sql.close()
    server.stop()
