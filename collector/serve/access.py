"""Who may ask, and from where: bearer tokens with scopes, and the Host and Origin of a request.

Without tokens everybody who can connect holds every scope: then passhat listens on loopback only. A page of another
site can still reach loopback through a browser, so Host is checked always (a rebound name is not ours) and Origin on
every write.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Sequence
from typing import Literal, Protocol
from urllib.parse import urlsplit

from msgspec import Struct
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from collector.config.units import split_address
from collector.serve.problems import FieldError, Refused, problem

ScopeName = Literal["ingest", "label", "read", "admin"]
ALL_SCOPES: frozenset[ScopeName] = frozenset({"ingest", "label", "read", "admin"})
LOOPBACK = ("localhost", "127.0.0.1", "::1")
OPEN_PATHS = ("/healthz", "/readyz")
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
MAX_BODY_BYTES = 4 << 20


class TokenLike(Protocol):
    """A token as configured (`auth.tokens`)."""

    @property
    def name(self) -> str: ...
    @property
    def sha256(self) -> str: ...
    @property
    def scopes(self) -> Sequence[ScopeName]: ...
    @property
    def project(self) -> str | None: ...


class Grant(Struct, frozen=True):
    """What the caller may do. `project` confines reads and writes to one project; '' is all."""

    name: str = ""
    scopes: frozenset[ScopeName] = ALL_SCOPES
    project: str = ""

    def need(self, *scopes: ScopeName) -> None:
        """Raise Refused (403) unless the grant holds one of `scopes`; `admin` holds all."""
        if self.scopes.isdisjoint((*scopes, "admin")):
            wanted = " or ".join(scopes)
            raise Refused(
                403, f"this needs a token with the scope {wanted}", hint="ask whoever runs this passhat for one"
            )


class Tokens:
    """The configured tokens, by digest."""

    def __init__(self, tokens: Iterable[TokenLike]) -> None:
        self._grants = [
            (bytes.fromhex(token.sha256), Grant(token.name, frozenset(token.scopes), token.project or ""))
            for token in tokens
        ]

    def grant(self, authorization: str) -> Grant:
        """The grant of an `Authorization` header; raises Refused (401). Without tokens configured: everything."""
        if not self._grants:
            return Grant()
        kind, _, token = authorization.partition(" ")
        digest = hashlib.sha256(token.strip().encode("utf-8", "surrogateescape")).digest()
        found = [grant for known, grant in self._grants if hmac.compare_digest(known, digest)]
        if kind.lower() != "bearer" or not found:
            why = "the token is not known" if authorization else "this passhat asks for a token"
            raise Refused(401, why, hint="send 'Authorization: Bearer TOKEN' (commands: PASSHAT_TOKEN)")
        return found[0]


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

    def __init__(self, app: ASGIApp, *, tokens: Tokens, hosts: Hosts) -> None:
        self._app = app
        self._tokens = tokens
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in OPEN_PATHS:
            await self._app(scope, receive, send)
            return
        try:
            self._enter(scope)
        except Refused as refused:
            headers = {"WWW-Authenticate": "Bearer"} if refused.status == 401 else {}
            await problem(refused, headers)(scope, receive, send)
            return
        await self._app(scope, receive, _guarded(send))

    def _enter(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        self._hosts.check(host)
        if scope["method"] not in SAFE_METHODS:
            self._hosts.check_origin(headers.get("origin", ""), host)
        scope.setdefault("state", {})["grant"] = self._tokens.grant(headers.get("authorization", ""))
