"""What attacks are after: a file with a secret, an address that notes who asks, a place where nothing may appear.

And a server that statements may cost little.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import httpx
import pytest
from msgspec import Struct

from collector.config import Config
from collector.config.keys import SqlConfig
from collector.listen import WebServer, bind
from collector.metrics import Metrics
from collector.serve.app import web_app
from collector.store.store import Store

SECRET = "the-secret-in-the-file"


class Bait(Struct):
    """Put into an attack with `into`; `untouched` says that it failed."""

    secret: Path
    out: Path
    url: str
    asked: list[str]

    def into(self, sql: str) -> str:
        return sql.replace("{secret}", str(self.secret)).replace("{url}", self.url).replace("{out}", str(self.out))

    def untouched(self, reply: str) -> bool:
        return SECRET not in reply and not self.asked and not self.out.exists()


@pytest.fixture(scope="module")
def bait(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bait]:
    folder = tmp_path_factory.mktemp("bait")
    (folder / "secret").write_text(SECRET)
    asked: list[str] = []

    class Noting(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(SECRET.encode())

        do_HEAD = do_POST = do_PUT = do_GET

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

    server = HTTPServer(("127.0.0.1", 0), Noting)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Bait(folder / "secret", folder / "out", f"http://127.0.0.1:{server.server_port}", asked)
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def capped(store: Store) -> Iterator[httpx.Client]:
    """A server whose statements may cost little, two at a time."""
    sql = SqlConfig(timeout_s=1, max_memory="50MB", max_rows=1000, max_bytes=100_000, readers=2)  # type: ignore[arg-type]
    app = web_app(store, lambda: {"ready": True}, Config(sql=sql), Metrics())
    server = WebServer(app, bind("127.0.0.1:0", "listen.web"))
    server.start()
    with httpx.Client(base_url=f"http://{server.address}", trust_env=False, timeout=30) as client:
        yield client
    app.state.sql.close()
    server.stop()
