"""A spool seen from outside: what it has set aside of a removed run must go, and does anything wait in it?"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import zstandard

from collector.journal import MAX_INFLATED


def forget(spool: Path, project: str, named: Iterable[tuple[str, ...]]) -> int:
    """Delete a project's files set aside that hold all of one tuple: ids in hex, or join keys (`name=value`); how many.

    A file goes as a whole: nobody could read it, so nobody can take one span out of it.
    """
    files = sorted(path for kind in ("*.pb*", "*.row") for path in (spool / "quarantine").glob(kind))
    wanted = [tuple(_forms(one) for one in some) for some in named] if files else []
    gone = 0
    for path in files:
        note = path.with_name(f"{path.name.partition('.')[0]}.json")
        if _project_of(note) != project:
            continue
        content = _content(path)
        if any(all(any(form in content for form in forms) for forms in parts) for parts in wanted):
            path.unlink(missing_ok=True)
            note.unlink(missing_ok=True)
            gone += 1
    return gone


def kept_in(spool: Path) -> int:
    """How many files are set aside: requests, rows and damaged spools, without the notes beside them."""
    return sum(path.suffix in (".pb", ".zst", ".row", ".sqlite") for path in (spool / "quarantine").glob("*"))


def entries_in(spool: Path) -> bool:
    """Whether requests wait in a spool that no process has open; also where it cannot be said."""
    file = spool / "spool.sqlite"
    if not file.exists():
        return False
    try:
        with closing(sqlite3.connect(f"file:{quote(str(file))}?mode=ro", uri=True, timeout=1.0)) as connection:
            return bool(connection.execute("SELECT EXISTS (SELECT 1 FROM entries)").fetchone()[0])
    except sqlite3.Error:
        return True


def _forms(one: str) -> tuple[bytes, ...]:
    """How an id (after its length), or the attribute of a join key, stands in protobuf, and how in JSON.

    An attribute with its name: a value as short as a run's number stands in requests of anybody.
    """
    if re.fullmatch(r"[0-9a-f]{16}|[0-9a-f]{32}", one):
        return (_field(bytes.fromhex(one)), b'"%s"' % one.encode())
    name, _, value = (part.encode("utf-8", "surrogatepass") for part in one.partition("="))
    held = b"\x0a" + _field(value)  # AnyValue.string_value
    return (b"\x0a" + _field(name) + b"\x12" + _field(held), b'"%s":"%s"' % (name, value))


def _field(content: bytes) -> bytes:
    """Bytes as protobuf writes them, after their length."""
    return _length(len(content)) + content


def _project_of(note: Path) -> str | None:
    """The project in the note beside a file; None without one."""
    try:
        project = json.loads(note.read_bytes())["project"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return project if isinstance(project, str) else None


def _length(size: int) -> bytes:
    """A length as protobuf writes it."""
    found = bytearray()
    while size > 127:
        found.append(size & 127 | 128)
        size >>= 7
    return bytes([*found, size])


def _content(path: Path) -> bytes:
    try:
        data = path.read_bytes()
        if path.suffix != ".zst":
            return data
        return zstandard.ZstdDecompressor().decompress(data, max_output_size=MAX_INFLATED)
    except (OSError, zstandard.ZstdError):  # gone meanwhile, or damaged beyond reading: nothing can be found in it
        return b""
