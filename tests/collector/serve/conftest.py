"""A real store, the application over it on a real socket, once a module: opening chDB is what takes time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from collector.config import Config
from collector.config.keys import StoreConfig
from collector.listen import WebServer, bind
from collector.metrics import Metrics
from collector.serve.app import web_app
from collector.store.store import Store

Ask = Callable[..., Any]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    data: Path = tmp_path_factory.mktemp("store")
    opened = Store.open(StoreConfig(url=f"chdb:{data}"), data)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def app(store: Store) -> FastAPI:
    return web_app(store, lambda: {"ready": True}, Config(), Metrics())


@pytest.fixture(scope="module")
def client(app: FastAPI) -> Iterator[httpx.Client]:
    server = WebServer(app, bind("127.0.0.1:0", "listen.web"))
    server.start()
    with httpx.Client(base_url=f"http://{server.address}", trust_env=False, timeout=30) as asked:
        yield asked
    server.stop()


@pytest.fixture(scope="module")
def get(client: httpx.Client) -> Ask:
    """The JSON of a GET that must succeed."""

    def ask(path: str, **params: Any) -> Any:
        reply = client.get(path, params=params)
        assert reply.status_code == 200, reply.text
        return reply.json()

    return ask
