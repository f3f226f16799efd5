"""Times people write: RFC 3339 instants, durations such as 90m, half-open windows exact to the millisecond."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from msgspec import Struct

from collector.config.units import duration_s

MS_NS = 1_000_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LAST_MS = 9_214_646_400_000  # 2262-01-01: what 64-bit nanoseconds since the epoch can hold
DEFAULT_WINDOW = "7d"
# '+' is a space in a query string nobody encoded; RFC 3339 has no space there, so it can only be the sign.
INSTANT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]{1,18})?([Zz]|[+\- ][0-9]{2}:[0-9]{2})"
)
EXPECTED = "expected RFC 3339 (2026-11-30T12:00:00Z) or a duration back from now (90m, 24h, 7d)"


class Window(Struct, frozen=True):
    """[start, end) in milliseconds since the epoch."""

    start_ms: int
    end_ms: int


class Asked(Struct, frozen=True):
    """The time parameters of a request, as written; '' where absent."""

    window: str = ""
    since: str = ""
    until: str = ""
    at: str = ""


class TimeError(ValueError):
    """A time nobody can read. `field` is the parameter at fault."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def duration_ms(text: str) -> int | None:
    """`90m`, `24h`, `7d`, `1h30m` in milliseconds; None when it is not a duration (a bare number is none)."""
    if not text[-1:].isalpha():
        return None
    try:
        return round(duration_s(text) * 1000)
    except (ValueError, OverflowError):
        return None


def instant_ms(text: str) -> int | None:
    """An RFC 3339 date and time in milliseconds since the epoch (floor); None when it is none."""
    match = INSTANT.fullmatch(text)
    if not match:
        return None
    day, clock, fraction, zone = match.groups()
    try:
        base = datetime.fromisoformat(f"{day}T{clock}{'+00:00' if zone in 'Zz' else zone.replace(' ', '+')}")
    except ValueError:
        return None
    return (base - EPOCH) // timedelta(milliseconds=1) + int((fraction or ".0")[1:4].ljust(3, "0"))


def point_ms(field: str, text: str, now_ms: int) -> int:
    """An instant, or a duration counted back from `now_ms`. Raises TimeError."""
    back = duration_ms(text)
    point = instant_ms(text) if back is None else now_ms - back
    if point is None or not 0 <= point <= LAST_MS:
        raise TimeError(field, f"{field} {shown(text)} is not a time: {EXPECTED}")
    return point


def window_of(asked: Asked, now_ms: int, default: str = DEFAULT_WINDOW) -> Window:
    """The window asked for: `window` back from `at`, or `since`/`until`; `default` long when nothing is said.

    Raises TimeError, so that a mistyped time is refused and never read as "everything".
    """
    if asked.window and asked.since:
        raise TimeError("window", "window and since both say where to start: give one of them")
    if asked.at and asked.until:
        raise TimeError("at", "at and until both say where to end: give one of them")
    now_ms = point_ms("at", asked.at, now_ms) if asked.at else now_ms
    end = point_ms("until", asked.until, now_ms) if asked.until else now_ms
    start = point_ms("since", asked.since, now_ms) if asked.since else end - length_ms(asked.window or default)
    start = max(start, 0)
    if start >= end:
        raise TimeError("since", "the window is empty: its start is not before its end")
    return Window(start, end)


def length_ms(text: str) -> int:
    """The length of a window. Raises TimeError."""
    length = duration_ms(text)
    if length is None or length <= 0:
        raise TimeError("window", f"window {shown(text)} is not a duration: expected for example 90m, 24h or 7d")
    return length


def shown(text: str) -> str:
    """A value somebody else wrote, short and printable, for an error message."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


def rfc3339(ns: int) -> str:
    """Nanoseconds since the epoch as RFC 3339 in UTC, with as many digits as it takes (3, 6 or 9)."""
    seconds, rest = divmod(ns, 1_000_000_000)
    stamp = (EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S")
    digits = f"{rest:09d}"
    kept = next(end for end in (3, 6, 9) if not digits[end:].strip("0"))
    return f"{stamp}.{digits[:kept]}Z"


def rfc3339_ms(ms: int) -> str:
    """Milliseconds since the epoch as RFC 3339 in UTC."""
    return rfc3339(ms * MS_NS)
