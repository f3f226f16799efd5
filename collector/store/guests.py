"""Read-only handles for statements that people wrote, apart from those the collector works with.

Embedded: a handle of its own for each statement, so that its caps and `readonly = 1` are set before it and gone after
it (0.1 ms to open). Server: the user of `store.reader_url`, who may only read there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

import chdb
import httpx
from clickhouse_connect.driver._chdbclient import build_connection_string

from collector.config import join_address
from collector.errors import UsageError
from collector.store.client import Target, sql_text

MARK = "passhat guest "
NO_CAP = 1 << 62
_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0", "\b": "\\b", "\f": "\\f"}
_ESCAPE = str.maketrans(_ESCAPES)


TOO_LARGE = "Code: 396. DB::Exception: Limit for result exceeded, max bytes: {most}. (TOO_MANY_ROWS_OR_BYTES)"


class EngineRefused(Exception):
    """What the engine said no with, in its own words: `Code: N. DB::Exception: …`."""


class Guest(Protocol):
    """A handle that reads."""

    def query(self, sql: str, fmt: str, params: Mapping[str, str]) -> bytes:
        """The answer in a format. Parameters are escaped text, as over ClickHouse's HTTP. Raises EngineRefused."""
        ...


class Guests(Protocol):
    """Where handles come from. `database` is the one that statements without one mean."""

    database: str

    def handle(self, settings: Mapping[str, str], mark: str = "") -> AbstractContextManager[Guest]:
        """A `Guest` which runs with these settings and `readonly`; what it runs can be cancelled by `mark`."""
        ...

    def cancel(self, mark: str) -> None:
        """End what runs under the mark ('' is all), where the engine is ours to ask."""
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...


class EmbeddedGuests:
    """Handles of the engine in this process."""

    def __init__(self, target: Target) -> None:
        self.database = target.database
        self._connection = build_connection_string(str(target.path / "chdb"), target.options)

    @contextmanager
    def handle(self, settings: Mapping[str, str], mark: str = "") -> Iterator[Guest]:
        with self._opened(int(settings.get("max_result_bytes", NO_CAP))) as guest:
            guest.query(f"USE `{self.database}`", "Null", {})
            every = {**settings, "log_comment": f"{MARK}{mark}"}
            changes = "".join(f"{name} = {sql_text(value)}, " for name, value in every.items())
            guest.query(f"SET {changes}readonly = 1", "Null", {})  # last: after it nothing can be set
            yield guest

    def cancel(self, mark: str) -> None:
        with self._opened() as guest:
            found = f"startsWith(Settings['log_comment'], {sql_text(MARK + mark)})"
            guest.query(f"KILL QUERY WHERE {found} ASYNC", "Null", {})

    def close(self) -> None:
        """Handles are closed one by one, after each statement."""

    @contextmanager
    def _opened(self, most: int = NO_CAP) -> Iterator[Guest]:
        opened = chdb.connect(self._connection)
        try:
            yield _Embedded(opened, most)
        finally:
            opened.close()


class _Embedded:
    def __init__(self, handle: Any, most: int) -> None:
        self._handle = handle
        self._most = most

    def query(self, sql: str, fmt: str, params: Mapping[str, str]) -> bytes:
        try:
            if fmt == "Native" and sql.startswith(("SELECT ", "WITH ")):  # SHOW and DESCRIBE cannot be streamed
                return b"".join(self._blocks(sql, params))
            data = self._handle.query(sql, fmt, params=dict(params)).bytes() or b""
        except RuntimeError as error:
            raise EngineRefused(str(error)) from error
        if len(data) > self._most:
            raise EngineRefused(TOO_LARGE.format(most=self._most))
        return data

    def _blocks(self, sql: str, params: Mapping[str, str]) -> Iterator[bytes]:
        """Native block by block: a constant counts once for the engine's caps and is written out for each row."""
        size = 0
        stream = self._handle.send_query(sql, "Native", params=dict(params))
        try:
            for block in stream:
                data = block.bytes() or b""
                size += len(data)
                if size > self._most:
                    raise EngineRefused(TOO_LARGE.format(most=self._most))
                yield data
        finally:
            stream.close()


class ServerGuests:
    """The read-only user of a server. Raises UsageError when the user of `reader_url` may write, EngineRefused when
    nobody answers there.
    """

    def __init__(self, reader: Target) -> None:
        self.database = reader.database
        at = reader.server
        self._client = httpx.Client(
            base_url=f"{at['interface']}://{join_address(at['host'], at['port'])}",
            auth=(at["username"], at["password"]),
            timeout=httpx.Timeout(10, read=None),  # the statement's own time limit ends it
            trust_env=False,
        )
        self._options = reader.options
        try:
            self._refuse_writers(reader)
        except BaseException:
            self.close()
            raise

    def _refuse_writers(self, reader: Target) -> None:
        with self.handle({}) as guest:
            if guest.query("SELECT getSetting('readonly')", "TSV", {}).strip() == b"0":
                raise UsageError(
                    f"store.reader_url: the user at {reader.name} may write",
                    hint="give it a profile with readonly = 2, as docker/clickhouse/users.d/passhat.xml does",
                )

    @contextmanager
    def handle(self, settings: Mapping[str, str], mark: str = "") -> Iterator[Guest]:
        yield _Served(self._client, {**settings, **self._options, "database": self.database})

    def cancel(self, mark: str) -> None:
        """A user who may only read may not kill either: `max_execution_time` ends what nobody waits for."""

    def close(self) -> None:
        self._client.close()


class _Served:
    """Straight to the server: a client would make values of the parameters, and escape them in its own way again."""

    def __init__(self, client: httpx.Client, asked: dict[str, str]) -> None:
        self._client = client
        self._asked = asked

    def query(self, sql: str, fmt: str, params: Mapping[str, str]) -> bytes:
        bound = {f"param_{name}": value for name, value in params.items()}
        asked = {**self._asked, "default_format": fmt, "wait_end_of_query": "1", **bound}
        try:
            reply = self._client.post("/", params=asked, content=sql.encode())
        except httpx.HTTPError as error:
            raise EngineRefused(f"the ClickHouse server does not answer: {type(error).__name__}") from error
        if not reply.is_success:
            raise EngineRefused(reply.text)
        return reply.content


def escaped(text: str) -> str:
    """Text as a parameter value."""
    return text.translate(_ESCAPE)
