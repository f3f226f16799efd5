"""The configuration in force as people may see it: every value with its origin, no secret in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from collector.config.keys import Config
from collector.config.problems import dotted
from collector.config.source import KeyPath

MASK = "***"
_PASSWORD_IN_URL = re.compile(r"(?<=//)([^/@\s:]*):([^@/\s]*)@")
_SECRET_IN_QUERY = re.compile(r"([?&][^=&\s]*(?:password|secret|token|key)[^=&\s]*=)[^&\s]+", re.IGNORECASE)
_SECRET_KEY = re.compile(r"sha256|password|secret|token$|api_key|authorization", re.IGNORECASE)


class Shown(Struct, frozen=True):
    """One key: its dotted name, its value as JSON would have it, and `default`, `file:line`, a variable or a flag."""

    key: str
    value: Any
    origin: str


def shown(config: Config) -> list[Shown]:
    """Every key in the order of the documentation, secrets masked."""
    return [
        Shown(dotted(path), _masked(config, path, value), config.source.origins.get(path, "default"))
        for path, value in _leaves(config.model_dump(mode="json", by_alias=True), ())
    ]


def masked(text: str, secrets: list[str]) -> str:
    """The text without passwords of URLs, secret query parameters and the values of secret variables."""
    for secret in sorted(set(secrets), key=len, reverse=True):
        text = text.replace(secret, MASK)
    return _SECRET_IN_QUERY.sub(rf"\1{MASK}", _PASSWORD_IN_URL.sub(rf"\1:{MASK}@", text))


def _masked(config: Config, path: KeyPath, value: Any) -> Any:
    if value and isinstance(path[-1], str) and (_SECRET_KEY.search(path[-1]) or "headers" in path[:-1]):
        return MASK
    if path[0] == "webhooks" and path[-1] == "url":
        return re.sub(r"(?<=//)(?:[^/@]*@)?([^/]+)/.+", rf"\1/{MASK}", value)  # the path of a hook is its password
    if isinstance(value, str):
        return masked(value, config.source.secrets)
    if isinstance(value, list | dict):
        return json.loads(masked(json.dumps(value, ensure_ascii=False), config.source.secrets))
    return value


def _leaves(value: Any, path: KeyPath) -> Iterator[tuple[KeyPath, Any]]:
    """Sections and lists of sections are opened; checks, actions and lists of texts are one value each."""
    if isinstance(value, dict) and value and path[:1] not in (("actions",), ("checks",)):
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for index, inner in enumerate(value):
            yield from _leaves(inner, (*path, index)) if path[:1] != ("checks",) else [((*path, index), inner)]
    elif isinstance(value, Path):
        yield path, str(value)
    else:
        yield path, value
