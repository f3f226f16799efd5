"""SQL as words: only of text that the engine's own formatter wrote.

That text has one spelling for everything: no comments, single spaces, names in back quotes where they need them. What
does not fit this spelling is refused rather than guessed at, so that the engine cannot read it differently.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from collector.serve.clickhouse.refusals import ACCESS_DENIED, SYNTAX_ERROR, SqlError

_WORD = re.compile(
    r"(?P<string>'(?:[^'\\]|\\.)*')"
    r"|(?P<quoted>`(?:[^`\\]|\\.)*`)"
    r"|(?P<place>\{\w+:[^{}]*\})"
    r"|(?P<number>\d\w*(?:\.\d\w*)?)"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign>[-()\[\],.+*/%<>=!|^?:{}])"
    r"|(?P<space> )",
    re.ASCII,
)
_ODD = re.compile(r"[\x00-\x1f\x7f\\]")
# Query parameters are values; one that stands for a name could name anything after it was looked at.
_PLACE_TYPE = re.compile(r"[A-Za-z0-9_(),' /+-]+")


class Word(Struct, frozen=True):
    """One word. `kind` is string, name, place, number or sign; a quoted name is a name without its quotes."""

    kind: str
    text: str
    start: int
    quoted: bool = False


def words_of(formatted: str) -> list[Word]:
    """All words of a formatted statement. Raises SqlError at the first thing that is none."""
    return list(_words(formatted))


def _words(text: str) -> Iterator[Word]:
    at = 0
    while at < len(text):
        found = _WORD.match(text, at)
        if found is None:
            raise SqlError(SYNTAX_ERROR, f"{text[at]!r} cannot be used here")
        kind = found.lastgroup or ""
        if kind == "quoted":
            yield Word("name", _unquoted(found[0]), at, quoted=True)
        elif kind == "place":
            yield _place(found[0], at)
        elif kind != "space":
            yield Word(kind, found[0], at)
        at = found.end()


def _unquoted(text: str) -> str:
    """A name without its back quotes. Odd characters could break a line of what the parser says of it."""
    if _ODD.search(text):
        raise SqlError(ACCESS_DENIED, "names with control characters, back quotes or backslashes are not allowed here")
    return text[1:-1]


def _place(text: str, at: int) -> Word:
    _, _, kind = text[1:-1].partition(":")
    if not _PLACE_TYPE.fullmatch(kind) or "identifier" in kind.lower():
        raise SqlError(ACCESS_DENIED, "query parameters are values here, never names: write the name into the query")
    return Word("place", text, at)
