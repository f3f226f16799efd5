"""Checks written in Python: a decorated function over a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from graders.checks.external import Function

F = TypeVar("F", bound=Callable[..., Any])

_REGISTERED = "__passhat_check__"


def check(id: str, **keys: Any) -> Callable[[F], F]:
    """Mark a function `(run: Run) -> bool | Verdict | (status, reason, lines)` as a check with these keys.

    The keys are those of the configuration: `gate`, `axis`, `tasks`, `severity`, `description`, `fix`, `timeout_s`.
    """

    def mark(function: F) -> F:
        setattr(function, _REGISTERED, {"id": id, "kind": "python", "function": id, **keys})
        return function

    return mark


def checks_in(namespace: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Function]]:
    """The checks that the functions of a module define: as configuration, and the functions by name."""
    marked = [value for value in namespace.values() if callable(value) and hasattr(value, _REGISTERED)]
    definitions = [dict(getattr(function, _REGISTERED)) for function in marked]
    return definitions, {written["function"]: function for written, function in zip(definitions, marked, strict=True)}
