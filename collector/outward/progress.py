"""A small JSON file that is either the old one or the new one, also after a loss of power."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeVar

import msgspec

from collector.errors import StoreError

T = TypeVar("T")


def load(path: Path, kind: type[T]) -> T | None:
    """What was saved, None before the first time. Raises StoreError for a file that is not ours."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as error:
        raise StoreError(f"{path}: cannot be read: {error}") from None


def save(path: Path, value: object) -> None:
    """Replace the file. Raises StoreError."""
    beside = path.with_suffix(".new")
    try:
        with beside.open("wb") as file:
            file.write(msgspec.json.encode(value))
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error}") from None
