"""From a question to bytes: guarded, capped, on a handle of its own."""

from __future__ import annotations

import threading

from msgspec import Struct

from collector.config.keys import SqlConfig
from collector.errors import UsageError
from collector.serve.clickhouse import handshake
from collector.serve.clickhouse.allowed import Allowed
from collector.serve.clickhouse.asked import Asked
from collector.serve.clickhouse.formats import CONTENT_TYPES, DEFAULT
from collector.serve.clickhouse.guard import check
from collector.serve.clickhouse.refusals import ACCESS_DENIED, SYNTAX_ERROR, UNKNOWN_FORMAT, SqlError
from collector.serve.clickhouse.settings import settings_of
from collector.store.client import Target
from collector.store.guests import EmbeddedGuests, EngineRefused, Guest, Guests, ServerGuests
from collector.store.store import Store

# Looking at a statement costs little, whatever the statement may cost.
GUARDING = settings_of([], SqlConfig(timeout_s=10))
NO_READER = "SQL is off: store.reader_url names no user of the ClickHouse server who may only read"


class Answer(Struct, frozen=True):
    """A result: bytes in a format, nothing decoded on the way."""

    data: bytes
    format: str


class Answers:
    """Answers statements over one store. Thread-safe; what the engine allows is read at the first one."""

    def __init__(self, store: Store, caps: SqlConfig, reader_url: str | None) -> None:
        self._store = store
        self._caps = caps
        self._reader_url = reader_url
        self._lock = threading.Lock()
        self._guests: Guests | None = None
        self._allowed: Allowed | None = None
        self._version = ""

    def answer(self, asked: Asked, mark: str) -> Answer:
        """Raises SqlError: in the engine's own words, or in ours for what may not run. `mark` is for `cancel`."""
        if not asked.sql:
            raise SqlError(SYNTAX_ERROR, "Empty query")
        try:
            guests, allowed = self._ready()
            if handshake.is_question(asked.sql):
                return self._shake(guests, asked)
            return self._run(guests, allowed, asked, mark)
        except EngineRefused as error:
            raise SqlError.of_engine(str(error)) from error

    def cancel(self, mark: str = "") -> None:
        """End the statement that runs under the mark, or all of them."""
        if self._guests is not None:
            self._guests.cancel(mark)

    def close(self) -> None:
        """End all that runs and let go of the store; a later statement opens it again."""
        self.cancel()
        with self._lock:
            if self._guests is not None:
                self._guests.close()
            self._guests = None

    def _run(self, guests: Guests, allowed: Allowed, asked: Asked, mark: str) -> Answer:
        settings_of(asked.settings, self._caps)  # refuses before anything is looked at
        with guests.handle(GUARDING) as guest:
            checked = check(guest, allowed, asked.sql, asked.params)
        form = format_of(checked.format or asked.format or DEFAULT)
        self._store.catch_up()  # a rate must not lag behind the runs beside it
        # What SETTINGS asks for is given from outside: inside `readonly = 1` nothing can be changed.
        with guests.handle(settings_of([*asked.settings, *checked.settings], self._caps), mark) as guest:
            return Answer(guest.query(checked.sql, form, asked.params), form)

    def _shake(self, guests: Guests, asked: Asked) -> Answer:
        if asked.revision and (asked.format or "Native") == "Native":
            return Answer(handshake.answer(self._version, asked.revision), "Native")
        form = format_of(asked.format or DEFAULT)
        with guests.handle(GUARDING) as guest:
            return Answer(guest.query(handshake.PLAIN, form, {}), form)

    def _ready(self) -> tuple[Guests, Allowed]:
        with self._lock:
            if self._guests is None or self._allowed is None:
                guests = self._open()
                with guests.handle(GUARDING) as guest:
                    self._version = _one(guest, "SELECT version()")
                    self._allowed = Allowed.read(guest, guests.database)
                self._guests = guests
            return self._guests, self._allowed

    def _open(self) -> Guests:
        if self._store.embedded:
            return EmbeddedGuests(self._store.target)
        if not self._reader_url:
            raise SqlError(ACCESS_DENIED, NO_READER)
        try:
            return ServerGuests(Target(self._reader_url, self._store.target.path))
        except UsageError as error:
            raise SqlError(ACCESS_DENIED, f"SQL is off: {error}") from error


def format_of(name: str) -> str:
    """A format that may be asked for. Raises SqlError."""
    if name not in CONTENT_TYPES:
        raise SqlError(UNKNOWN_FORMAT, f"the format {name[:64]} is not served here")
    return name


def _one(guest: Guest, sql: str) -> str:
    return guest.query(sql, "TSV", {}).decode().strip()
