"""Caches over text from outside: only short text is kept, so that what is kept stays small."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, TypeVar

T = TypeVar("T")

_LONGEST = 2_000  # characters of all arguments together
_MOST = 8_192


def remembered(compute: Callable[..., T]) -> Callable[..., T]:
    """Keep the last results of a pure function of texts."""
    kept = lru_cache(maxsize=_MOST)(compute)

    @wraps(compute)
    def ask(*texts: Any) -> T:
        return kept(*texts) if sum(map(len, texts)) <= _LONGEST else compute(*texts)

    return ask
