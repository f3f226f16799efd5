"""uvicorn's HTTP protocol with the bounds it lacks: how long a header may take and how large it may be, and how long a
client may go on sending after it was answered.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import httptools
import orjson
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from collector.quiet_log import QuietLog

HEADER_S = 20.0  # from the connection, or the first byte of a further request, to the end of its header
HEADER_BYTES = 64 << 10
AFTER_ANSWER_S = 10.0  # what a refused client still sends is read and thrown away, so that it reads the answer

UPGRADE = b"pgrade"  # of Upgrade or upgrade
LOG = QuietLog(logging.getLogger(__name__))


class BoundedHttp(HttpToolsProtocol):
    """One connection. Use as `uvicorn.Config(http=BoundedHttp)`."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._deadline: asyncio.TimerHandle | None = None
        self._header_bytes = 0
        self._in_header = True

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Starts the clock for the first header."""
        super().connection_made(transport)
        self._arm(HEADER_S)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stops the clock."""
        self._disarm()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Counts what belongs to a header before it is parsed: the parser itself would keep any amount."""
        if self._in_header:
            if not self._header_bytes and UPGRADE in data:
                data = _without_upgrade(data)
            self._header_bytes += len(data)
            if self._deadline is None:
                self._arm(HEADER_S)
            if self._header_bytes > HEADER_BYTES and b"\r\n\r\n" not in data:
                self._close(431, "the header of the request is too large")
                return
        self._unset_keepalive_if_required()
        self._parse(data)

    def _parse(self, data: bytes) -> None:
        """As uvicorn does, but a client cannot fill the log."""
        try:
            self.parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            LOG.say(logging.WARNING, "not http", "what arrived on the OTLP/HTTP port is not HTTP/1.1")
            self._close(400, "this port speaks HTTP/1.1")

    def on_headers_complete(self) -> None:
        """The header is there: the body has its own clock, in the application."""
        self._disarm()
        self._in_header = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The request is there as a whole: the next byte begins a further one."""
        self._in_header, self._header_bytes = True, 0
        self._disarm()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Answered; when the client is still sending, it has a little time to stop."""
        super().on_response_complete()
        if not self._in_header:
            self._arm(AFTER_ANSWER_S)

    def _close(self, status: int, message: str) -> None:
        body = orjson.dumps({"code": 3, "message": message, "details": []})
        reason = {400: b"Bad Request", 431: b"Request Header Fields Too Large"}[status]
        head = b"HTTP/1.1 %d %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n"
        self.transport.write(head % (status, reason, len(body)) + body)
        self.transport.close()

    def _arm(self, seconds: float) -> None:
        self._disarm()
        self._deadline = self.loop.call_later(seconds, self._expire)

    def _disarm(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _expire(self) -> None:
        self._deadline = None
        if not self.transport.is_closing():
            self.transport.close()


def _without_upgrade(data: bytes) -> bytes:
    """A request without its offer to upgrade, which Java's HTTP client makes with every first one: the parser would
    take the body behind such a header for another protocol. It may be passed over (RFC 9110, 7.8)."""
    head, end, rest = data.partition(b"\r\n\r\n")
    kept = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"upgrade:")]
    return b"\r\n".join(kept) + end + rest if end else data
