"""Texts rewritten: by the names of JSON keys inside them, and by what secrets look like.

JSON in a text is not parsed and written again: that would change what nobody asked to change, and a cut text has no
parse. Its tokens are walked instead, and only the literals that hold a secret are replaced.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable

from collector.redact.finder import ESCAPED, Finder, Found, Scan, UserPatterns, automaton
from collector.redact.marks import Marks
from collector.redact.names import EXEMPT, Names

MOST_NESTED = 6  # JSON in JSON in JSON …
# Never more than one look at a character: a literal that is cut off ends with the text, an apostrophe opens nothing.
_TOKEN = re.compile(
    r"""(?P<text>"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|(?<![\w\\])'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+')(?P<colon>\s*+:)?"""
    r"""|(?P<bracket>[\[\]{}])|(?P<comma>,)|(?P<bare>[^\s"'\[\]{},:]++)""",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_PLAIN_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_NO_SECRETS = frozenset(["null", "true", "false", "None", "True", "False"])
_OPENING = b"[redacted:"
_MARK = re.compile(rb"(\[redacted:\w+:[0-9a-f]+\])")
_NAMED = re.compile(
    rb"[\"']([A-Za-z0-9_.-]{2,80})\\{0,9}[\"']\s{0,9}:\s{0,9}\\{0,9}[\"']([^\"'\\]*)"
)  # an entry of a map


class Texts:
    """Rewrites texts and counts what it found, by kind."""

    def __init__(self, finder: Finder, user: UserPatterns, names: Names, scan: Scan, marks: Marks) -> None:
        self._finder = finder
        self._user = user
        self._names = names
        self._scan = scan
        self._marks = marks
        # Keys and escapes ask for a walk along the tokens, secrets with a form of their own do not.
        self._in_literals = automaton(rf"{names.pattern()}\\*[\"']|{ESCAPED}")

    def redacted(self, text: str, counts: Counter[str], depth: int = 0) -> str:
        """The text without its secrets; the very same text where there are none."""
        data = _bytes(text)
        if not self._scan.hits(data):
            return text
        if depth < MOST_NESTED and self._in_literals.search(data) is not None:
            data = _bytes(_Walk(self, text, counts, depth).text())
        new = self.in_bytes(data, counts).decode("utf-8", "surrogatepass")
        return text if new == text else new

    def in_bytes(self, data: bytes, counts: Counter[str]) -> bytes:
        """The bytes with each secret of a known form replaced; the very same where there are none."""
        pieces = [data] if _OPENING not in data else _MARK.split(data)
        for i in range(0, len(pieces), 2):  # the marks between them are done
            pieces[i] = self._between_marks(pieces[i], counts)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _between_marks(self, data: bytes, counts: Counter[str]) -> bytes:
        data = self._replaced(data, list(self._finder.find(data)), counts)
        if self._user.patterns:
            data = self._replaced(data, _apart(self._user.find(data)), counts)
        return data

    def whole(self, kind: str, value: str, counts: Counter[str]) -> str:
        """The mark of a value that is a secret as a whole, by its key."""
        data = _bytes(value)
        if not value or _MARK.fullmatch(data):
            return value
        counts[kind] += 1
        return self._marks.mark(kind, data)

    def kind(self, name: str) -> str:
        return self._names.kind(name)

    def _replaced(self, data: bytes, found: list[Found], counts: Counter[str]) -> bytes:
        found = self._without_ids(data, found) if found else found
        if not found:
            return data
        pieces: list[bytes] = []
        copied = 0
        for one in found:
            counts[one.kind] += 1
            pieces += (data[copied : one.start], self._marks.mark(one.kind, data[one.start : one.end]).encode())
            copied = one.end
        return b"".join([*pieces, data[copied:]])

    def _without_ids(self, data: bytes, found: list[Found]) -> list[Found]:
        """Ids in JSON tie calls to their results: they stay, as they do in attributes."""
        ids = [match.span(2) for match in _NAMED.finditer(data) if self._names.kind(match[1].decode()) == EXEMPT]
        starts = [start for start, _ in ids]

        def in_id(one: Found) -> bool:
            at = bisect_right(starts, one.start) - 1
            return at >= 0 and one.start < ids[at][1]

        return [one for one in found if not in_id(one)] if ids else found


class _Walk:
    """Along the JSON tokens of one text (or those of a Python literal): which key does a value stand behind?"""

    def __init__(self, texts: Texts, text: str, counts: Counter[str], depth: int) -> None:
        self._texts = texts
        self._text = text
        self._counts = counts
        self._depth = depth
        self._kind = ""  # what the key before the next value says of it
        self._lists: list[str] = []  # the same for each open bracket: a list behind a secret key holds secrets

    def text(self) -> str:
        """The text rewritten, the very same object where nothing was."""
        pieces: list[str] = []
        copied = 0
        for token in _TOKEN.finditer(self._text):
            new = self._token(token)  # of a literal or a bare word: the whole of the token
            if new is not None and new != token[0]:
                pieces += (self._text[copied : token.start()], new)
                copied = token.end()
        return "".join([*pieces, self._text[copied:]]) if pieces else self._text

    def _token(self, token: re.Match[str]) -> str | None:
        """What stands in place of a token; None where it stays."""
        if (bracket := token["bracket"]) is not None:
            self._bracket(bracket)
        elif token["comma"] is not None:
            self._kind = self._lists[-1] if self._lists else ""
        elif token["colon"] is not None:
            self._kind = self._texts.kind(unescaped(token["text"].strip("\"'")))
        elif (literal := token["text"]) is not None:
            return self._literal(literal)
        elif self._kind not in ("", EXEMPT) and token["bare"] not in _NO_SECRETS:
            return json.dumps(self._texts.whole(self._kind, token["bare"], self._counts))
        return None

    def _bracket(self, bracket: str) -> None:
        if bracket == "[":
            self._lists.append(self._kind)
        elif bracket == "{":
            self._lists.append("")
            self._kind = ""
        elif self._lists:
            self._lists.pop()
            self._kind = ""

    def _literal(self, literal: str) -> str | None:
        if self._kind == EXEMPT:
            return None
        quote = literal[0]
        closed = len(literal) > 1 and literal[-1] == quote
        inner = unescaped(literal[1:-1] if closed else literal[1:])
        if self._kind:
            new = self._texts.whole(self._kind, inner, self._counts)
        elif "\\" in literal:
            new = self._texts.redacted(inner, self._counts, self._depth + 1)
        else:  # as it stands in the text: found there
            return None
        if new == inner:
            return None
        return escaped(new, quote) + (quote if closed else "")


def unescaped(text: str) -> str:
    """What a JSON or Python literal means; surrogate halves that belong together are joined."""
    if "\\" not in text:
        return text
    plain = _ESCAPE.sub(lambda m: chr(int(m[1] or m[2], 16)) if m[3] is None else _PLAIN_ESCAPES.get(m[3], m[3]), text)
    if plain.isascii():
        return plain
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def escaped(text: str, quote: str) -> str:
    """A literal without its closing quote."""
    said = json.dumps(text, ensure_ascii=False)[1:-1]
    return quote + (said if quote == '"' else said.replace('\\"', '"').replace("'", "\\'"))


def _apart(found: Iterable[Found]) -> list[Found]:
    """Without those that overlap an earlier one."""
    apart: list[Found] = []
    for one in sorted(found, key=lambda f: (f.start, -f.end)):
        if not apart or one.start >= apart[-1].end:
            apart.append(one)
    return apart


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
