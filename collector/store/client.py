"""Handles to ClickHouse: in this process (chDB) or a server by URL, the same client either way.

chDB: one process a path (own lock), one path a process, spawn and never fork after opening it. A handle serves one
call at a time, different handles serve threads in parallel; hence a handle for writing and a small pool for reading.
"""

from __future__ import annotations

import os
import queue
import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import clickhouse_connect
import pyarrow as pa
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError

from collector.errors import BadStatement, StoreError, UsageError
from collector.store.engine import CLUSTER_SETTINGS
from collector.store.lock import StoreLock

DATABASE = "passhat"
READERS = 4
# Batches are ours: an insert is done when the call returns. Times are UTC whatever the machine's zone.
SETTINGS = {"async_insert": 0, "session_timezone": "UTC"}
READ_SETTINGS = {**SETTINGS, "readonly": 2}
# Above it a query fails instead of the process being killed; the caches' own defaults are made for servers.
MEMORY_SHARE = 0.4
ENGINE_OPTIONS = {
    "mark_cache_size": str(64 << 20),
    "primary_index_cache_size": str(64 << 20),
    "index_mark_cache_size": str(32 << 20),
    "query_condition_cache_size": str(16 << 20),
}


class Target:
    """What `store.url` says. `chdb:DIRECTORY`, or `clickhouse://user:password@host:port/database?secure=true`."""

    def __init__(self, url: str, data: Path, cluster: str | None = None) -> None:
        scheme, _, rest = url.partition(":")
        self.embedded = scheme == "chdb"
        self.cluster = cluster
        self.path = data
        if self.embedded:
            if cluster is not None:
                raise UsageError(
                    f"store.cluster: {cluster}: an embedded store is on no cluster",
                    hint="set store.url to a server of it",
                )
            path, _, query = rest.partition("?")
            self.path = Path(path or data).absolute()
            memory = {"max_server_memory_usage": str(int(MEMORY_SHARE * available_memory()))}
            self.options = {**memory, **ENGINE_OPTIONS, **dict(parse_qsl(query))}
            self.database = DATABASE
            return
        if scheme not in ("clickhouse", "http", "https"):
            raise UsageError(
                f"store.url: unknown scheme {scheme!r}", hint="chdb:DIRECTORY or clickhouse://host:port/database"
            )
        parts = urlsplit(url)
        query_items = dict(parse_qsl(parts.query))
        secure = scheme == "https" or query_items.pop("secure", "").lower() in ("true", "1", "yes")
        self.database = unquote(parts.path.strip("/")) or DATABASE
        self.options = query_items
        self.server: dict[str, Any] = {
            "interface": "https" if secure else "http",
            "host": parts.hostname or "localhost",
            "port": parts.port or (8443 if secure else 8123),
            "username": unquote(parts.username or "default"),
            "password": unquote(parts.password or ""),
        }

    @property
    def name(self) -> str:
        """For messages: never the password."""
        return f"chdb:{self.path}" if self.embedded else f"{self.server['host']}:{self.server['port']}/{self.database}"


class Connections:
    """All handles of one process to one store."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._lock: StoreLock | None = None
        self._clients: list[Client] = []
        self._readers: queue.LifoQueue[Client] = queue.LifoQueue()
        self._write_lock = threading.RLock()
        self._inserts = 0
        try:
            self._open()
        except StoreError:
            self.close()
            raise
        except (ClickHouseError, OSError) as error:
            self.close()
            raise StoreError(
                f"cannot open the store at {target.name}: {first_line(error)}", hint="see store.url in passhat.yaml"
            ) from error

    def _open(self) -> None:
        if self.target.embedded:
            self.target.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock = StoreLock(self.target.path / "store.lock")
            shutil.rmtree(self._inbox, ignore_errors=True)  # what a killed process left behind
            self._inbox.mkdir(mode=0o700)
        first = self._client(None, SETTINGS)
        first.command(f"CREATE DATABASE IF NOT EXISTS `{self.target.database}`")
        self._writer = self._client(self.target.database, SETTINGS)
        for _ in range(READERS):
            self._readers.put(self._client(self.target.database, READ_SETTINGS))

    def _client(self, database: str | None, settings: dict[str, Any]) -> Client:
        if self.target.embedded:
            client = clickhouse_connect.get_client(
                interface="chdb",
                path=str(self.target.path / "chdb"),
                database=database,
                settings=settings,
                chdb_options=self.target.options,
                tz_mode="aware",
            )
        else:
            client = clickhouse_connect.get_client(
                **self.target.server,
                database=database,
                settings={**self.target.options, **(CLUSTER_SETTINGS if self.target.cluster else {}), **settings},
                autogenerate_session_id=False,
                form_encode_query_params=True,  # many keys make a URL longer than servers take
                tz_mode="aware",
            )
        self._clients.append(client)
        return client

    @property
    def _inbox(self) -> Path:
        return self.target.path / "inserting"

    @contextmanager
    def writer(self) -> Iterator[Client]:
        """The handle that may write, for one caller at a time."""
        with self._write_lock, told():
            yield self._writer

    @contextmanager
    def reader(self) -> Iterator[Client]:
        """A handle that may only read; waits when all are busy."""
        client = self._readers.get()
        try:
            with told():
                yield client
        finally:
            self._readers.put(client)

    def insert(self, table: str, rows: pa.Table) -> None:
        """Add the rows; they are readable, and on disk where the table says so, when this returns."""
        with self.writer() as client:
            if not self.target.embedded:
                client.insert_arrow(table, rows)
                return
            # The client's own insert leaves its file in /tmp when the process is killed: data that nobody removes.
            self._inserts += 1
            path = self._inbox / f"{self._inserts}.arrow"
            try:
                with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, rows.schema) as out:
                    out.write_table(rows)
                columns = ", ".join(f"`{name}`" for name in rows.schema.names)
                client.command(f"INSERT INTO `{table}` ({columns}) FROM INFILE {sql_text(str(path))} FORMAT Arrow")
            finally:
                path.unlink(missing_ok=True)

    def close(self) -> None:
        for client in self._clients:
            client.close()
        self._clients.clear()
        if self._lock is not None:
            self._lock.release()
            self._lock = None


# An HTTP client that found nobody quotes the whole statement before it says why.
UNREACHED = re.compile(r"host='(?P<host>[^']+)', port=(?P<port>\d+)\): .*\(Caused by .*: (?P<why>[^:\"]+)\"?\)\)")


# ClickHouse's codes for SQL that it cannot take: unknown identifier, function or table, syntax, types, parameters.
OUR_FAULT = frozenset({36, 42, 43, 46, 47, 48, 53, 60, 62, 215, 386, 456, 457})


@contextmanager
def told() -> Iterator[None]:
    """ClickHouse's errors as ours."""
    try:
        yield
    except ClickHouseError as error:
        said = first_line(error)
        code = re.match(r"Code: (\d+)", said)
        raise (BadStatement if code and int(code[1]) in OUR_FAULT else StoreError)(said) from error
    except OSError as error:  # the files rows are handed over in: the disk is full, or read-only
        raise StoreError(f"the store's folder cannot be written: {error}") from error


def first_line(error: BaseException) -> str:
    """What the engine says, without what a client puts around it."""
    text = (str(error).strip() or type(error).__name__).splitlines()[0]
    said = text.find("Code: ")
    if unreached := UNREACHED.search(text):
        return f"no answer from {unreached['host']}:{unreached['port']}: {unreached['why']}"
    return text[max(said, 0) :].partition(" (for url ")[0][:2000]


def sql_text(text: str) -> str:
    """A SQL string literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def available_memory() -> int:
    """Bytes this process may use: the machine's, or less where a control group says so."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
    except OSError:
        return total
    return min(total, int(limit)) if limit.isdigit() else total
