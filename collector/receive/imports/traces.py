"""Exported spans → one request a trace. A trace with a span that cannot be read is left out as a whole, and told.

A run of which a part is missing would be judged by what is left, so a file is never imported in half without a word.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from collector.receive.imports.build import nanoseconds

Json = dict[str, Any]
DIGITS = {10: 10**9, 13: 10**6, 16: 10**3, 19: 1}  # of an epoch in s, ms, us, ns: ns a unit


class Misfit(ValueError):
    """Something that a file of this form does not hold; its text begins with the place."""


class Traces:
    """Collects the groups of spans (`resourceSpans`) of each trace, in the order of the file."""

    def __init__(self, trace_of: Callable[[Json], str]) -> None:
        self._trace_of = trace_of
        self._groups: dict[str, list[Json]] = {}
        self._bad: dict[str, str] = {}

    def read(self, records: Iterable[tuple[str, object]], group_of: Callable[[Json], Json]) -> Iterator[Misfit]:
        """Take in records, each with its place; what cannot be read is told."""
        for place, record in records:
            trace = ""
            try:
                if not isinstance(record, dict):
                    raise TypeError("no object")
                trace = self._trace_of(record)
                self._groups.setdefault(trace, []).append(group_of(record))
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                self._bad.setdefault(trace, place)
                yield Misfit(f"{place}: {said(error)}")

    def requests(self) -> Iterator[Json | Misfit]:
        for trace, groups in self._groups.items():
            if trace in self._bad:
                yield Misfit(f"trace {trace}: left out as a whole, because of {self._bad[trace]}")
            else:
                yield {"resourceSpans": groups}


def said(error: Exception) -> str:
    """An error for the person whose file it is."""
    if isinstance(error, KeyError):
        return f"`{error.args[0]}` is missing"
    return str(error) if isinstance(error, ValueError) else "not of the form expected here"


def hex_id(value: object, size: int, name: str) -> str:
    """An id of `size` bytes in hex. Raises ValueError."""
    text = str(value or "").lower()
    if len(text) != 2 * size or not set(text) <= set("0123456789abcdef") or not text.strip("0"):
        raise ValueError(f"`{name}` is no id of {size} bytes in hex: {str(value)[:60]!r}")
    return text


def time_ns(value: object, name: str) -> int:
    """Nanoseconds of a time as RFC 3339, or as an epoch in a unit told by its size. Raises ValueError."""
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        unit = DIGITS.get(len(str(int(value))))
        if unit:
            return int(value * unit)
    found = nanoseconds(value) if isinstance(value, str) else 0
    if found <= 0:
        raise ValueError(f"`{name}` is no time: {str(value)[:60]!r}")
    return found


def flat(key: str, value: object) -> Iterator[tuple[str, object]]:
    """Nested maps and lists of maps as the dotted attributes they were on the wire (`a.0.b`)."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from flat(f"{key}.{name}", inner)
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for number, item in enumerate(value):
            yield from flat(f"{key}.{number}", item)
    else:
        yield key, value
