"""What ends a statement: FORMAT and SETTINGS are taken off it, because others decide on them."""

from __future__ import annotations

from itertools import pairwise

from msgspec import Struct

from collector.serve.clickhouse.refusals import ACCESS_DENIED, SqlError
from collector.serve.clickhouse.words import Word


class Statement(Struct, frozen=True):
    """A statement without its end, as text and as words; the format it asked for ('' for none), and the settings."""

    sql: str
    words: list[Word]
    format: str
    settings: tuple[tuple[str, str], ...]


def split(text: str, words: list[Word]) -> Statement:
    """Take the end off a formatted statement. Raises SqlError for INTO OUTFILE and for settings that are no values."""
    for first, second in pairwise(words):
        if first.text == "INTO" and second.text == "OUTFILE" and not first.quoted:
            raise SqlError(ACCESS_DENIED, "INTO OUTFILE is not allowed here: the result is the answer")
    form = ""
    settings: tuple[tuple[str, str], ...] = ()
    for _ in range(2):  # in either order
        if not form and _is_format(words):
            form, words = words[-1].text, words[:-2]
        start = _settings_start(words)
        if not settings and start:
            settings, words = _settings(words[start + 1 :]), words[:start]
    return Statement(text[: _end(words)], words, form, settings)


def _is_format(words: list[Word]) -> bool:
    if len(words) < 3:
        return False
    keyword, name = words[-2:]
    return keyword.text == "FORMAT" and keyword.kind == "name" and not keyword.quoted and name.kind == "name"


def _settings_start(words: list[Word]) -> int:
    """Where the last SETTINGS outside of parentheses begins; 0 for none."""
    depth = 0
    for at in range(len(words) - 1, 0, -1):
        word = words[at]
        if word.kind == "sign" and word.text in ")]}":
            depth += 1
        elif word.kind == "sign" and word.text in "([{":
            depth -= 1
        elif word.text == "SETTINGS" and word.kind == "name" and not word.quoted and depth == 0:
            return at
    return 0


def _settings(words: list[Word]) -> tuple[tuple[str, str], ...]:
    """`name = value, …`, nothing else."""
    found = []
    for at in range(0, len(words), 4):
        name, equals, value, comma, *_ = [*words[at : at + 4], *[Word("sign", "", 0)] * 4]
        if equals.text != "=" or value.kind not in ("string", "number", "name") or comma.text not in (",", ""):
            raise SqlError(ACCESS_DENIED, "settings other than single values are not allowed here")
        found.append((name.text, value.text.strip("'")))
    return tuple(found)


def _end(words: list[Word]) -> int:
    """The length of the text up to the last word."""
    if not words:
        return 0
    last = words[-1]
    quotes = 2 if last.quoted else 0
    return last.start + len(last.text) + quotes
