"""Durations, sizes and addresses as people write them, parsed once."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator

MINUTE_S, HOUR_S, DAY_S = 60, 3600, 86400
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30

# A year is 365 days: retention counts days, not calendars.
_SECONDS = {"ms": 0.001, "s": 1, "m": MINUTE_S, "h": HOUR_S, "d": DAY_S, "w": 7 * DAY_S, "y": 365 * DAY_S}
_BYTES = {
    "": 1, "B": 1,
    "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
    "KiB": KIB, "MiB": MIB, "GiB": GIB, "TiB": 1 << 40,
}  # fmt: skip
_NUMBER = r"([0-9]+(?:\.[0-9]+)?)"
_DURATION = re.compile(rf"{_NUMBER}\s*(ms|[smhdwy])")
_SIZE = re.compile(rf"{_NUMBER}\s*([A-Za-z]*)")
_ADDRESS = re.compile(r"(\[[0-9A-Fa-f:.%\w]+\]|[^:\[\]/\s]+):([0-9]{1,5})")


def duration_s(value: object) -> float:
    """Seconds of `90d`, `1h30m`, `250ms`, or of a plain number of seconds. Raises ValueError."""
    if isinstance(value, bool):
        raise ValueError("not a duration: write 90d, 1h30m or a number of seconds")
    if isinstance(value, int | float):
        return _not_negative(float(value))
    text = str(value).strip()
    if re.fullmatch(_NUMBER, text):
        return float(text)
    parts = _DURATION.findall(text)
    # The parts must be the whole text: '5 minutes' would otherwise read as 5 m.
    if not parts or _DURATION.sub("", text).strip():
        raise ValueError("not a duration: write 90d, 1h30m or a number of seconds (units ms s m h d w y)")
    return float(sum(float(number) * _SECONDS[unit] for number, unit in parts))


def size_bytes(value: object) -> int:
    """Bytes of `10GiB`, `500MB`, or of a plain number of bytes. Raises ValueError."""
    if isinstance(value, int) and not isinstance(value, bool):
        return int(_not_negative(value))
    match = _SIZE.fullmatch(str(value).strip())
    if match is None or match[2] not in _BYTES:
        raise ValueError("not a size: write 10GiB, 500MB or a number of bytes (units B kB MB GB TB KiB MiB GiB TiB)")
    return int(float(match[1]) * _BYTES[match[2]])


def split_address(value: str) -> tuple[str, int]:
    """Host and port of `127.0.0.1:4317` or `[::1]:4317`; the host without brackets. Raises ValueError."""
    match = _ADDRESS.fullmatch(value.strip())
    # No host would mean every interface: nobody opens a port to the world by leaving something out.
    if match is None or int(match[2]) > 65535:
        raise ValueError("not an address: write host:port, like 127.0.0.1:4317 or [::1]:4317 (port 0: any free port)")
    return match[1].strip("[]"), int(match[2])


def join_address(host: str, port: int) -> str:
    """`host:port`, an IPv6 host in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _not_negative(number: float) -> float:
    if not 0 <= number < float("inf"):
        raise ValueError("must not be negative")
    return number


def _address(value: object) -> str:
    return join_address(*split_address(str(value)))


def as_list(value: object) -> object:
    """A lone value where a list is due is a list of one."""
    return [value] if isinstance(value, str | int | float) else value


Seconds = Annotated[float, BeforeValidator(duration_s)]
WholeSeconds = Annotated[int, BeforeValidator(lambda value: int(duration_s(value)))]
Bytes = Annotated[int, BeforeValidator(size_bytes)]
Address = Annotated[str, BeforeValidator(_address)]
Texts = Annotated[tuple[str, ...], BeforeValidator(as_list)]
