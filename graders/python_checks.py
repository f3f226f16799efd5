"""Checks written in Python: a decorated function over a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

_MARK = "__passhat_check__"


def check(id: str, **keys: Any) -> Callable[[F], F]:
    """Mark a function `(run: Run) -> bool | Verdict | (status, reason, lines)` as a check with these keys.

    The keys are those of the configuration: `gate`, `axis`, `tasks`, `severity`, `description`, `fix`, `timeout_s`.
    """

    def mark(function: F) -> F:
        setattr(function, _MARK, {"id": id, "kind": "python", "function": function, **keys})
        return function

    return mark


def checks_in(namespace: Mapping[str, Any], source: str = "") -> list[dict[str, Any]]:
    """The checks that a module's functions define, as configuration. `source` is the module's text."""
    marked = [value for value in namespace.values() if callable(value) and hasattr(value, _MARK)]
    return [{**getattr(function, _MARK), **({"source": source} if source else {})} for function in marked]
