"""Bearer tokens by digest: who they are for, what they may do, which project they are confined to."""

from __future__ import annotations

import hashlib
import hmac
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import yaml
from msgspec import Struct
from pydantic import TypeAdapter, ValidationError

from collector.config.keys import AuthConfig, TokenConfig
from collector.errors import Forbidden, Unauthenticated, UsageError
from collector.receive.otlp import Authorize, Principal, everyone

ScopeName = Literal["ingest", "label", "read", "admin"]
ALL_SCOPES: frozenset[ScopeName] = frozenset({"ingest", "label", "read", "admin"})
FORM = "a list of {name, sha256, scopes, project}"
TOKENS = TypeAdapter(list[TokenConfig])
HOW = "send 'Authorization: Bearer TOKEN' (exporters: OTEL_EXPORTER_OTLP_HEADERS, commands: PASSHAT_TOKEN)"


class Grant(Struct, frozen=True):
    """What the holder of a token may do. `project` confines reads and writes to one project; '' is all."""

    name: str = ""
    scopes: frozenset[ScopeName] = ALL_SCOPES
    project: str = ""

    def may(self, scope: ScopeName) -> bool:
        """`admin` may everything."""
        return scope in self.scopes or "admin" in self.scopes


class Tokens:
    """The tokens of the configuration and of `auth.tokens_file`, read again whenever that file changes.

    Thread-safe. A file that cannot be read any more keeps the tokens it had: nobody is locked out, nobody let in.
    """

    def __init__(self, auth: AuthConfig) -> None:
        self._fixed = _by_digest(auth.tokens)
        self._file = auth.tokens_file
        self._stamp: tuple[int, int] | None = None
        self._lock = threading.Lock()
        self._known = self._fixed
        self.error = ""
        if self._file is not None:
            self._known = self._fixed | _by_digest(read_tokens(self._file))
            self._stamp = _stamp(self._file)

    @property
    def required(self) -> bool:
        """Whether a token is asked for at all. Naming a file asks for one, even while the file lists none."""
        return bool(self._fixed) or self._file is not None

    def find(self, token: str) -> Grant | None:
        """The grant of a token, None for one that is not known. Compares digests in constant time."""
        digest = hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
        found = None
        for known, grant in self._in_force().items():
            if hmac.compare_digest(known, digest):
                found = grant
        return found

    def _in_force(self) -> dict[bytes, Grant]:
        if self._file is None or _stamp(self._file) == self._stamp:
            return self._known
        with self._lock:
            try:
                self._known, self.error = self._fixed | _by_digest(read_tokens(self._file)), ""
            except UsageError as error:
                self.error = str(error)
            self._stamp = _stamp(self._file)
        return self._known


def read_tokens(path: Path) -> list[TokenConfig]:
    """A YAML list of tokens as `auth.tokens` has them. Raises UsageError naming the file, never a token."""
    try:
        read: Any = yaml.safe_load(path.read_text()) or []
        return TOKENS.validate_python(read)
    except OSError as error:
        raise UsageError(f"auth.tokens_file {path}: {error.strerror}") from None
    except ValidationError as error:
        at_fault = error.errors(include_input=False, include_context=False, include_url=False)
        lines = [f"auth.tokens_file {path}: {_sentence(item)}" for item in at_fault]
        raise UsageError("\n".join(lines), hint=FORM) from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise UsageError(f"auth.tokens_file {path}: not YAML", hint=FORM) from None


def _sentence(item: Any) -> str:
    """One fault: the entry and the field, never a value."""
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in item["loc"])
    if not place:
        return "not a list of tokens"
    if item["type"] == "missing":
        return f"`{place}` is missing"
    if item["type"] == "extra_forbidden":
        return f"unknown key `{place}`"
    message = str(item["msg"]).removeprefix("Value error, ")
    return f"`{place}`: {message[:1].lower()}{message[1:]}"


def ingest_authorizer(tokens: Tokens) -> Authorize:
    """What the receiver asks before it reads a body: the scope `ingest`, and the token's project."""
    if not tokens.required:
        return everyone

    def authorize(token: str | None) -> Principal:
        if not token:
            raise Unauthenticated(f"this passhat asks for a token: {HOW}")
        grant = tokens.find(token)
        if grant is None:
            raise Unauthenticated("the token is not known")
        if not grant.may("ingest"):
            raise Forbidden("this token lacks the scope ingest")
        return Principal(name=grant.name, project=grant.project or None, scopes=frozenset(grant.scopes))

    return authorize


def _by_digest(tokens: Iterable[TokenConfig]) -> dict[bytes, Grant]:
    return {bytes.fromhex(t.sha256): Grant(t.name, frozenset(t.scopes), t.project or "") for t in tokens}


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
