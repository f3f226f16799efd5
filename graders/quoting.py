"""Text as CEL literals."""

from __future__ import annotations

from collections.abc import Iterable

_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def cel_text(text: str) -> str:
    """A text literal: whatever stands in it, it ends where it should."""
    return "'" + "".join(_ESCAPES.get(character, character) for character in text) + "'"


def cel_texts(texts: Iterable[str]) -> str:
    """A list of text literals."""
    return f"[{', '.join(cel_text(text) for text in texts)}]"
