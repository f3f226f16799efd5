"""The redactor a configuration asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from collector.config import Config
from collector.redact.content import CONTENT, Content
from collector.redact.marks import KEY_FILE, Marks, key_of
from collector.redact.redactor import Redactor
from collector.rules import read_yaml, words_of
from semconv.dialect import dialect_from
from semconv.dialects import BUILT_IN

Redact = Callable[[Any, bytes, str], Mapping[str, int] | None]


def redactor_of(config: Config) -> Redact | None:
    """What the receiver calls on every request, None for nothing. Makes the key of the marks where there is none."""
    asked = config.redact
    if not asked.enabled and asked.content == "on":
        return None
    marks = Marks(key_of(asked.key_file or config.data / KEY_FILE))
    redactor = None
    if asked.enabled:
        redactor = Redactor(marks, keys=asked.keys, patterns=asked.patterns, also=asked.also, never=asked.never)
    return redactor if asked.content == "on" else _without_content(content_of(config, marks), redactor)


def text_redactor_of(config: Config) -> Callable[[str], str]:
    """Takes secrets out of a text that leaves: what was stored before a pattern was configured may hold some."""
    asked = config.redact
    if not asked.enabled:
        return str
    marks = Marks(key_of(asked.key_file or config.data / KEY_FILE))
    found = Redactor(marks, keys=asked.keys, patterns=asked.patterns, also=asked.also, never=asked.never)
    return found.in_text


def content_of(config: Config, marks: Marks) -> Content:
    """What is structure to the dialects in force, a user's included."""
    own = [dialect_from(read_yaml(path)) for path in config.dialects]
    return Content([*(dialect for dialect, _ in BUILT_IN), *own], words_of(config).identity_keys, marks)


def _without_content(content: Content, redactor: Redactor | None) -> Redact:
    """Texts out first, then the secrets in what is left."""

    def redact(request: Any, wire: bytes, signal: str) -> Mapping[str, int]:
        request.DiscardUnknownFields()
        dropped = content.drop(request, signal)
        found = redactor(request, request.SerializeToString(), signal) if redactor is not None else None
        return {CONTENT: dropped, **(found or {})}

    return redact
