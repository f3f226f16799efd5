"""What stands in place of a secret: `[redacted:kind:1f0c2a9b]`.

The digits are a keyed digest of the secret: equal secrets have equal marks, so that repeated calls stay repeated,
and different ones stay different. Without the key nobody can try guesses against a mark.
"""

from __future__ import annotations

import hmac
import os
import secrets
from pathlib import Path

from collector.errors import UsageError

KEY_BYTES = 32
DIGITS = 8
KEY_FILE = "redact.key"


class Marks:
    """Marks under one key."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def mark(self, kind: str, secret: bytes) -> str:
        """The mark of a secret."""
        digest = hmac.digest(self._key, secret, "sha256")
        return f"[redacted:{kind}:{digest.hex()[:DIGITS]}]"


def key_of(path: Path) -> bytes:
    """The key in a file, made when it is not there yet. Raises UsageError when it cannot be read or is too short."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return _read(path) or _made(path)
    except OSError as error:
        raise UsageError(f"redact.key_file {path}: {error.strerror or error}") from None


def _read(path: Path) -> bytes:
    try:
        key = path.read_bytes()
    except FileNotFoundError:
        return b""
    if len(key) < KEY_BYTES:
        raise UsageError(
            f"redact.key_file {path}: {len(key)} bytes are no key, {KEY_BYTES} are asked for",
            hint=f"remove it: it is made anew (marks of equal secrets change); or head -c {KEY_BYTES} /dev/urandom",
        )
    return key


def _made(path: Path) -> bytes:
    """Written beside and linked: of two that start at once, one key counts, and it is never read half-written."""
    new = path.with_name(f"{path.name}.{os.getpid()}")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(descriptor, secrets.token_bytes(KEY_BYTES))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    try:
        os.link(new, path)
    except FileExistsError:
        pass
    finally:
        new.unlink()
    return _read(path)
