"""Who may ask, and from where: bearer tokens with scopes, and the Host and Origin of a request.

Without tokens everybody who can connect holds every scope: then passhat listens on loopback only. A page of another
site can still reach loopback through a browser, so Host is checked always (a rebound name is not ours) and Origin on
every write.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from collector.config.units import split_address
from collector.serve.problems import FieldError, Refused, problem
from collector.tokens import HOW, Grant, ScopeName, Tokens

LOOPBACK = ("localhost", "127.0.0.1", "::1")
OPEN_PATHS = ("/healthz", "/readyz")
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
MAX_BODY_BYTES = 4 << 20
# How a refusal is said on paths that speak another protocol; None for the others.
Say = Callable[[str, Refused], Response | None]


def need(grant: Grant, *scopes: ScopeName) -> None:
    """Raise Refused (403) unless the grant holds one of `scopes`; `admin` holds all."""
    if not any(grant.may(scope) for scope in scopes):
        wanted = " or ".join(scopes)
        raise Refused(403, f"this needs a token with the scope {wanted}", hint="ask whoever runs this passhat for one")


def grant_of(tokens: Tokens, headers: Headers) -> Grant:
    """The grant of a request; raises Refused (401). Without tokens configured: everything."""
    if not tokens.required:
        return Grant()
    token = token_of(headers)
    grant = tokens.find(token) if token else None
    if grant is None:
        raise Refused(401, "the token is not known" if token else "this passhat asks for a token", hint=HOW)
    return grant


def token_of(headers: Headers) -> str:
    """A bearer token; or the password of basic auth (or of ClickHouse's own header), whatever the user is called."""
    kind, _, sent = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return sent.strip()
    if kind.lower() == "basic":
        try:
            return base64.b64decode(sent.strip(), validate=True).decode().partition(":")[2]
        except ValueError:
            return ""
    return headers.get("x-clickhouse-key", "")


class Hosts:
    """The names a request may use for this server."""

    def __init__(self, listen: str, allowed: Iterable[str]) -> None:
        host, _ = split_address(listen)
        extra = {name.lower() for name in allowed}
        # Bound to another address, people come by names we cannot know: only a list of them can be checked.
        self._any = host not in LOOPBACK and not extra
        self._names = {*LOOPBACK, host.lower(), *extra}

    def check(self, host: str) -> None:
        """Raise Refused (421) when `Host` names somebody else: a page whose name was rebound to our address."""
        if not self._any and not self._known(host):
            field = FieldError("Host", "not a name of this server")
            raise Refused(
                421, "the Host header names another server", field, hint="add the name to listen.allowed_hosts"
            )

    def check_origin(self, origin: str, host: str) -> None:
        """Raise Refused (403) when a browser says that another site sent this write."""
        if origin and urlsplit(origin).netloc.lower() != host.lower():
            raise Refused(403, "a page of another origin may not write here", FieldError("Origin", "another origin"))

    def _known(self, host: str) -> bool:
        return host.lower() in self._names or _name_of(host).lower() in self._names


def _guarded(send: Send) -> Send:
    """Headers that every reply carries: nothing is guessed from bytes of a trace, nothing is kept by a browser."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers["X-Content-Type-Options"] = "nosniff"
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return sent


def _name_of(host: str) -> str:
    """The name in `name:port`, `[::1]:port` or `name`."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host


class Door:
    """ASGI middleware: nothing inside runs before Host, Origin, token and size are looked at."""

    def __init__(self, app: ASGIApp, *, tokens: Tokens, hosts: Hosts, say: Say | None = None) -> None:
        self._app = app
        self._tokens = tokens
        self._hosts = hosts
        self._say = say

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in OPEN_PATHS:
            await self._app(scope, receive, send)
            return
        try:
            self._enter(scope)
        except Refused as refused:
            headers = {"WWW-Authenticate": "Bearer"} if refused.status == 401 else {}
            reply = (self._say and self._say(scope["path"], refused)) or problem(refused, headers)
            await reply(scope, receive, send)
            return
        await self._app(scope, receive, _guarded(send))

    def _enter(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        self._hosts.check(host)
        if scope["method"] not in SAFE_METHODS:
            self._hosts.check_origin(headers.get("origin", ""), host)
        scope.setdefault("state", {})["grant"] = grant_of(self._tokens, headers)
