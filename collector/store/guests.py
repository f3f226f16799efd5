"""Read-only handles for statements that people wrote, apart from those the collector works with.

Embedded: a handle of its own for each statement, so that its caps and `readonly = 1` are set before it and gone after
it (0.1 ms to open). Server: the user of `store.reader_url`, who may only read there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

import chdb
import clickhouse_connect
from clickhouse_connect.driver._chdbclient import build_connection_string
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError

from collector.errors import UsageError
from collector.store.client import Target, sql_text

MARK = "passhat guest "
NO_CAP = 1 << 62
_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0", "\b": "\\b", "\f": "\\f"}
_ESCAPE = str.maketrans(_ESCAPES)
_PLAIN = {written: plain for plain, written in _ESCAPES.items()}


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
    """The read-only user of a server. Raises UsageError when the user of `reader_url` may write."""

    def __init__(self, reader: Target) -> None:
        self.database = reader.database
        self._client = clickhouse_connect.get_client(
            **reader.server,
            database=reader.database,
            settings=reader.options,
            autogenerate_session_id=False,
            form_encode_query_params=True,
        )
        if self._client.command("SELECT getSetting('readonly')") == 0:
            raise UsageError(
                f"store.reader_url: the user at {reader.name} may write",
                hint="give it a profile with readonly = 2, as docker/clickhouse/users.d/passhat.xml does",
            )

    @contextmanager
    def handle(self, settings: Mapping[str, str], mark: str = "") -> Iterator[Guest]:
        yield _Served(self._client, dict(settings))

    def cancel(self, mark: str) -> None:
        """A user who may only read may not kill either: `max_execution_time` ends what nobody waits for."""


class _Served:
    def __init__(self, client: Client, settings: dict[str, str]) -> None:
        self._client = client
        self._settings = settings

    def query(self, sql: str, fmt: str, params: Mapping[str, str]) -> bytes:
        # Without a placeholder the client would take the parameters for those of a % template.
        plain = {name: unescaped(value) for name, value in params.items() if f"{{{name}:" in sql}
        try:
            return bytes(self._client.raw_query(sql, plain or None, self._settings, fmt=fmt))
        except ClickHouseError as error:
            raise EngineRefused(str(error)) from error


def escaped(text: str) -> str:
    """Text as a parameter value."""
    return text.translate(_ESCAPE)


def unescaped(value: str) -> str:
    """The text of a parameter value, for a client that escapes it itself."""
    return re.sub(r"\\(.)", lambda found: _PLAIN.get(found[0], found[1]), value, flags=re.DOTALL)
