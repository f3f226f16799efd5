"""One process per embedded store: the engine itself refuses a second one with an empty message."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import TracebackType

from collector.errors import StoreError


class StoreLock:
    """An advisory lock on a file, gone with the process however it ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(self._file, 32, 0).decode(errors="replace").strip()
            os.close(self._file)
            who = f"process {holder}" if holder else "another process"
            raise StoreError(
                f"the store in {path.parent} is open in {who}",
                hint="stop it, or ask it: commands without --data talk to the running server",
            ) from None
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> StoreLock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.release()
