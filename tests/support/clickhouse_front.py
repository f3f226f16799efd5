"""A small ClickHouse HTTP interface over chDB, in a process of its own: for tests only.

    python tests/support/clickhouse_front.py DIRECTORY [--password TEXT] [--port N]

prints one JSON line {"port": N} once it accepts, and ends with its standard input. It answers what
clickhouse-connect's HTTP client sends: the handshake, bound parameters (URL or form), settings, inserts of a data
block (plain, lz4, zstd or gzip), results in any format, errors with their code.
"""

from __future__ import annotations

import argparse
import base64
import email
import email.policy
import gzip
import json
import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import chdb
import lz4.frame
import zstandard

INSERT = re.compile(rb"\s*(INSERT\s+INTO\s+[^;]+?)\s+FORMAT\s+(\w+)\s*?(?:\n|$)", re.IGNORECASE)
FORMAT = re.compile(r"\bFORMAT\s+(\w+)\s*;?\s*$", re.IGNORECASE)
CODE = re.compile(r"Code: (\d+)")
# Of the transport, not of the engine.
TRANSPORT = {"database", "query", "query_id", "default_format", "client_protocol_version", "wait_end_of_query"}
DECODERS = {
    "": bytes,
    "identity": bytes,
    "gzip": gzip.decompress,
    "lz4": lz4.frame.decompress,
    "zstd": lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data),
}


class Engine:
    """Handles of one chDB path; a handle keeps the settings it was made with and serves one request at a time."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._idle: dict[tuple[str, ...], list[Any]] = {}
        self._keep = chdb.connect(path)

    @contextmanager
    def handle(self, database: str, settings: dict[str, str]) -> Iterator[Any]:
        key = (database, *(f"{name}={value}" for name, value in sorted(settings.items())))
        with self._lock:
            idle = self._idle.setdefault(key, [])
            handle = idle.pop() if idle else None
        if handle is None:
            handle = chdb.connect(self._path)
            if database:
                handle.query(f"USE `{database}`")
            for name in sorted(settings, key=lambda name: name == "readonly"):  # after it nothing can be set
                handle.query(f"SET {name} = '{settings[name]}'")
        yield handle
        with self._lock:
            idle.append(handle)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # headers and body in one packet: else each answer waits for a delayed acknowledgement
    engine: Engine
    password = ""

    def do_GET(self) -> None:
        if urlsplit(self.path).path == "/ping":
            self._reply(200, b"Ok.\n")
        else:
            self._answer(b"")

    def do_POST(self) -> None:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            body = b"".join(self._chunks())
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._answer(DECODERS[self.headers.get("Content-Encoding", "")](body))

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().split(b";")[0], 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _answer(self, body: bytes) -> None:
        asked = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
        if self.headers.get("Content-Type", "").startswith("multipart/form-data"):
            asked |= self._form(body)
            body = b""
        if not self._allowed():
            self._refuse("Code: 516. DB::Exception: default: Authentication failed. (AUTHENTICATION_FAILED)")
            return
        try:
            data, form = self._run(asked, body)
        except Exception as error:  # whatever the engine says goes back as ClickHouse would say it
            self._refuse(str(error))
        else:
            self._reply(200, data, {"X-ClickHouse-Format": form} if form else {})

    def _run(self, asked: dict[str, str], body: bytes) -> tuple[bytes, str]:
        query = asked.get("query", "").encode()
        sent = query + b"\n" + body if query else body
        insert = INSERT.match(sent)
        settings = {k: v for k, v in asked.items() if k not in TRANSPORT and not k.startswith("param_")}
        params = {k.removeprefix("param_"): v for k, v in asked.items() if k.startswith("param_")}
        with self.engine.handle(asked.get("database", ""), settings) as handle:
            if insert:
                return insert_block(handle, insert, sent[insert.end() :]), ""
            sql = sent.decode()
            named = FORMAT.search(sql)
            form = named[1] if named else asked.get("default_format", "TabSeparated")
            data = handle.query(sql, form, params=params).bytes() or b""
            return data, form if data else ""

    def _form(self, body: bytes) -> dict[str, str]:
        head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
        message = email.message_from_bytes(head + body, policy=email.policy.HTTP)
        return {
            str(part.get_param("name", header="content-disposition")): part.get_payload(decode=True).decode()
            for part in message.iter_parts()
        }

    def _allowed(self) -> bool:
        if not self.password:
            return True
        sent = self.headers.get("Authorization", "").removeprefix("Basic ")
        return base64.b64decode(sent).decode().partition(":")[2] == self.password

    def _refuse(self, text: str) -> None:
        code = CODE.search(text)
        self._reply(500, text.encode(), {"X-ClickHouse-Exception-Code": code[1] if code else "1002"})

    def _reply(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()


def insert_block(handle: Any, insert: re.Match[bytes], block: bytes) -> bytes:
    """Insert a block of data: the engine reads one from a file only."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(block)
        file.flush()
        handle.query(f"{insert[1].decode()} FROM INFILE '{file.name}' FORMAT {insert[2].decode()}")
    return b""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("directory")
    parser.add_argument("--password", default="")
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    Handler.engine, Handler.password = Engine(options.directory), options.password
    server = ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({"port": server.server_port}), flush=True)
    sys.stdin.read()
    os._exit(0)  # the engine's threads outlive an orderly end


if __name__ == "__main__":
    main()
