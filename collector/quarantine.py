"""Requests that the spool set aside, seen from outside: what holds a removed run's records must not stay there."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import zstandard

from collector.journal import MAX_INFLATED


def forget(spool: Path, ids: Iterable[str]) -> int:
    """Delete the files set aside that hold one of these ids (hex, or any text); how many.

    A file goes as a whole: nobody could read it, so nobody can take one span out of it.
    """
    wanted = [form for one in ids for form in _forms(one)]
    gone = 0
    for path in sorted((spool / "quarantine").glob("*.pb*")):
        content = _content(path)
        if any(form in content for form in wanted):
            path.unlink(missing_ok=True)
            path.with_name(f"{path.name.partition('.')[0]}.json").unlink(missing_ok=True)
            gone += 1
    return gone


def _forms(one: str) -> tuple[bytes, ...]:
    """An id as protobuf has it and as text has it."""
    text = one.encode("utf-8", "surrogatepass")
    return (text, bytes.fromhex(one)) if re.fullmatch(r"[0-9a-f]{16}|[0-9a-f]{32}", one) else (text,)


def _content(path: Path) -> bytes:
    try:
        data = path.read_bytes()
        if path.suffix != ".zst":
            return data
        return zstandard.ZstdDecompressor().decompress(data, max_output_size=MAX_INFLATED)
    except (OSError, zstandard.ZstdError):  # gone meanwhile, or damaged beyond reading: nothing can be found in it
        return b""
