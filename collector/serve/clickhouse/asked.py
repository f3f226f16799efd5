"""A request of ClickHouse's HTTP protocol: the statement, its parameters and settings, whatever way they came."""

from __future__ import annotations

import email
import email.policy
from collections.abc import Iterable

from msgspec import Struct
from starlette.requests import Request

from collector.errors import PermanentError, TooLarge
from collector.receive.inflate import Inflater, coding_of
from collector.serve.clickhouse.refusals import (
    BAD_QUERY_PARAMETER,
    NO_SUCH_ENCODING,
    QUERY_IS_TOO_LARGE,
    SYNTAX_ERROR,
    SqlError,
)

MAX_BODY = 1 << 20
MAX_SQL = 256 << 10  # as ClickHouse's own max_query_size


class Asked(Struct, frozen=True):
    """What one request asks. `params` are escaped texts by name."""

    sql: str
    params: dict[str, str]
    settings: list[tuple[str, str]]
    format: str  # for a statement without FORMAT; '' is ClickHouse's default
    revision: int  # of the client's native protocol; 0 when it frames nothing


async def asked_of(request: Request) -> Asked:
    """Read a request. Raises SqlError for what cannot be read, and for a password in the URL."""
    body = await _body(request)
    fields = list(request.query_params.multi_items())
    if request.headers.get("content-type", "").startswith("multipart/form-data"):
        fields += _form(request.headers["content-type"], body)
        body = b""
    if any(name == "password" and value for name, value in fields):
        raise SqlError(BAD_QUERY_PARAMETER, "a token never goes into a URL: send it as the password of basic auth")
    named = dict(fields)
    if named.get("compress", "0") == "1" or named.get("decompress", "0") == "1":
        raise SqlError(NO_SUCH_ENCODING, "compress=1 is not served: ask for gzip with Accept-Encoding")
    return Asked(
        sql=_sql(named.get("query", ""), body),
        params={name.removeprefix("param_"): value for name, value in fields if name.startswith("param_")},
        settings=[(name, value) for name, value in fields if not name.startswith("param_")],
        format=named.get("default_format") or request.headers.get("x-clickhouse-format", ""),
        revision=int(text) if (text := named.get("client_protocol_version", "")).isdecimal() else 0,
    )


async def _body(request: Request) -> bytes:
    try:
        inflater = Inflater(coding_of(request.headers.get("content-encoding", "")), MAX_BODY)
        async for piece in request.stream():
            inflater.feed(piece)
        return inflater.finish()
    except TooLarge as error:
        raise SqlError(QUERY_IS_TOO_LARGE, str(error)) from None
    except PermanentError as error:
        raise SqlError(NO_SUCH_ENCODING, f"the body cannot be read: {error}") from None


def _form(content_type: str, body: bytes) -> Iterable[tuple[str, str]]:
    """Fields of a multipart form: how clients send parameters that are too long for a URL."""
    message = email.message_from_bytes(
        f"Content-Type: {content_type}\r\n\r\n".encode() + body, policy=email.policy.HTTP
    )
    for part in message.iter_parts():
        name = part.get_param("name", header="content-disposition")
        if part.get_filename() is not None or not isinstance(name, str):
            raise SqlError(BAD_QUERY_PARAMETER, "external data is not taken here: only fields of a form")
        payload = part.get_payload(decode=True)
        yield name, _text(payload if isinstance(payload, bytes) else b"")


def _sql(query: str, body: bytes) -> str:
    """The statement: the parameter `query`, the body, or one after the other."""
    sent = "\n".join(text for text in (query, _text(body)) if text.strip())
    if len(sent) > MAX_SQL:
        raise SqlError(QUERY_IS_TOO_LARGE, f"the statement is longer than {MAX_SQL} characters")
    return sent


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise SqlError(SYNTAX_ERROR, f"not UTF-8 text (byte {error.start})") from None
