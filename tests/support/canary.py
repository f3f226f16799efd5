"""Looks for bytes in files: what was removed must not be found anywhere any more."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import zstandard

MAGIC = b"\x28\xb5\x2f\xfd"  # of a zstd frame


def files_with(folder: Path, canaries: Iterable[bytes]) -> list[str]:
    """The files below `folder` in which one of the canaries stands, as it is or inside a zstd frame.

    A file or folder that goes while we look is left out: the engine removes old parts when it likes.
    """
    wanted = list(canaries)
    found = []
    for at, _, names in os.walk(folder):
        for path in (Path(at) / name for name in sorted(names)):
            if any(canary in content for content in contents(path) for canary in wanted):
                found.append(str(path.relative_to(folder)))
    return found


def contents(path: Path) -> Iterator[bytes]:
    """The bytes of a file, and those of every zstd frame in it that can be inflated."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return
    yield data
    at = data.find(MAGIC)
    while at >= 0:
        with contextlib.suppress(zstandard.ZstdError):
            yield zstandard.ZstdDecompressor().decompressobj().decompress(data[at:])
        at = data.find(MAGIC, at + 1)
