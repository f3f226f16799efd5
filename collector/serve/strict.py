"""Strict JSON: what any parser reads, with every digit of a 64-bit integer and no bare NaN."""

from __future__ import annotations

import base64
import json
import math
from datetime import UTC, date, datetime
from typing import Any

from fastapi.responses import Response

MAX_DEPTH = 200  # deeper values are shown as text: a recursive parser at the other end would fail


def dumps(value: object) -> bytes:
    """JSON in UTF-8: integers are numbers with all their digits, NaN and the infinities strings (as in OTLP/JSON)."""
    return json.dumps(plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def plain(value: Any, depth: int = 0) -> Any:
    """The value as JSON can say it: bytes as base64, times as RFC 3339, lone surrogates replaced."""
    if isinstance(value, str):
        return text(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return number(value)
    if isinstance(value, dict | list | tuple) and depth >= MAX_DEPTH:
        return "[nested too deep]"
    if isinstance(value, dict):
        return {text(str(key)): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, depth + 1) for item in value]
    return scalar(value)


def text(value: str) -> str:
    """The string, valid as UTF-8: a lone surrogate would fail the whole reply."""
    return value if value.isascii() else value.encode("utf-8", "replace").decode()


def number(value: float) -> float | str:
    """The number, or its OTLP/JSON spelling where JSON has none: null would claim that nothing was sent."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def scalar(value: Any) -> Any:
    """A value of a row as JSON has it: bytes in base64, times in RFC 3339."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, datetime):
        aware = value if value.tzinfo else value.replace(tzinfo=UTC)
        return aware.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    return text(str(value))


class StrictJSON(Response):
    """A JSON response by `dumps`."""

    media_type = "application/json"

    def render(self, content: object) -> bytes:
        return dumps(content)
