"""Statements in files: paragraphs, each headed by a comment that is its title."""

from __future__ import annotations

from pathlib import Path

import pytest

FOLDER = Path(__file__).parent


def statements(name: str) -> list[object]:
    """The paragraphs of a file as pytest parameters, by title."""
    found = []
    for paragraph in (FOLDER / name).read_text().split("\n\n"):
        head, *lines = paragraph.strip("\n").split("\n")
        if lines and not lines[0].startswith("--"):
            found.append(pytest.param("\n".join(lines), id=head.removeprefix("-- ")))
    return found
