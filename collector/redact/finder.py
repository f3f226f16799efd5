"""Finds secrets in bytes: one automaton over all patterns, linear in the text whatever the text is.

RE2 (google-re2), because it runs at every span: Python's own engine tries one alternative after the other at each
byte and takes some ninety times as long, and a hostile text could make it take for ever.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import re2
from msgspec import Struct

from collector.errors import UsageError
from collector.redact.secrets import BY_CONTEXT, Secret

# Where a word may begin: not in the middle of another (`task-…` holds `sk-…`), but behind an escape, as in `\\nsk-…`.
_BEGIN = r"(?:^|[^A-Za-z0-9]|\\[nrtbf]|\\u[0-9a-fA-F]{4}|%[0-9A-Fa-f]{2}|\[[0-9;]*m)"
# On the wire a word may also stand behind the tag and the length of a field, whatever letter the length looks like.
_BEGIN_ON_WIRE = r"(?:^|[^A-Za-z0-9]|[\x00-\x1f\x80-\xff*:b].|\\[nrtbf]|%[0-9A-Fa-f]{2}|\[[0-9;]*m)"
# A letter, digit or sign of a secret written as a JSON escape, or the escaped slashes of an address.
ESCAPED = r"\\u00(?:2[b-f]|3[0-9ad]|4[0-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9a])|:\\+/\\+/"
# What follows a secret key: the value's tag (or that of what comes next) in protobuf, a quote or a colon in text.
_BEHIND_KEY = r"(?:[\x00-\x1f\"':=\\J2z]|$)"
WINDOW = 32 << 10
OVERLAP = 8 << 10  # what tells a secret of any form is shorter
SHORT = 64
ORDINARY = (
    "The order was shipped on Monday; please tell the customer.",
    '{"path": "src/app/main.py", "limit": 20, "pattern": "def total"}',
    "execute_tool Bash", "error: file not found", "2026-10-26T07:33:20Z", "42 passed in 1.31s", "claude-sonnet-4",
)  # fmt: skip
MOST_ERASED = 0.3  # of ordinary text


class Found(Struct, frozen=True):
    """A secret in bytes, at [start, end)."""

    start: int
    end: int
    kind: str


class Finder:
    """The secrets of some bytes, one after the other."""

    def __init__(self, known: Sequence[Secret]) -> None:
        self._known = known
        patterns = [_in_text(one.pattern) for one in known]
        self._automaton = automaton("|".join(patterns))
        # Which of them it was, and where in the match, is asked of the few bytes that matched.
        self._which = re.compile("|".join(f"(?P<k{i}>{pattern})" for i, pattern in enumerate(patterns)).encode())
        # What only its surroundings make a secret may turn out to be none, and still hold one of a form of its own.
        formed = [one for one in known if one.kind not in BY_CONTEXT]
        self._formed = Finder(formed) if 0 < len(formed) < len(known) else None

    def find(self, data: bytes, at: int = 0, until: int | None = None) -> Iterator[Found]:
        """The secrets in [at, until) from left to right."""
        until = len(data) if until is None else until
        while at < until:
            match = self._next(data, at, until)
            if match is None:
                at += WINDOW - OVERLAP
                continue
            start, end = match.span()
            which = self._which.match(data[start:end])
            found = self._look(data, which, start) if which else None
            if found is not None:
                yield found
                at = found.end
            elif end - start <= SHORT:  # it may hide the true one one byte later (a card among digits)
                at = start + 1
            else:
                if self._formed is not None:
                    yield from self._formed.find(data, start, end)
                at = end

    def _next(self, data: bytes, at: int, until: int) -> Any:
        """The next match that begins in a window of the data: each search costs the window, not all that follows."""
        window = min(until, at + WINDOW)
        match = self._automaton.search(data, at, window)
        if match is not None and match.end() == window < until:  # it may go on behind the window
            return self._automaton.search(data, match.start(), until)
        return match

    def _look(self, data: bytes, which: re.Match[bytes], offset: int) -> Found | None:
        assert which.lastindex is not None  # the outermost group that took part: the kind's; its own comes next
        secret = self._known[int(str(which.lastgroup)[1:])]
        start, end = (offset + at for at in which.span(which.lastindex + 1))
        if secret.plausible is not None and not secret.plausible(data[start:end]):
            return None
        return Found(start, end if secret.extend is None else secret.extend(data, end), secret.kind)


class UserPatterns:
    """`redact.patterns`: RE2's syntax, over UTF-8. Where a pattern has a group, what it holds is the secret."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self.patterns = tuple(patterns)
        for pattern in self.patterns:
            if problem := problem_of(pattern):
                raise UsageError(f"redact.patterns: {pattern!r}: {problem}")
        self._compiled = [_user_pattern(pattern) for pattern in self.patterns]

    def find(self, data: bytes) -> Iterator[Found]:
        """The secrets each pattern finds; they may overlap."""
        for pattern in self._compiled:
            for match in pattern.finditer(data):
                start, end = match.span(1 if pattern.groups else 0)
                if end > start:
                    yield Found(start, end, "pattern")


class Scan:
    """Whether bytes may hold anything to be looked at: protobuf as on the wire, or the text of one value.

    It may say yes to what holds no secret, never no to what holds one.
    """

    def __init__(self, known: Iterable[Secret], names: str, user: UserPatterns) -> None:
        forms = [one.pattern.replace("{B}", _BEGIN_ON_WIRE).replace("{D}", "").replace("{E}", "") for one in known]
        self._known = automaton("|".join([*forms, f"{names}{_BEHIND_KEY}", ESCAPED]))
        self._user = automaton("|".join(map(unanchored, user.patterns)), utf8=True) if user.patterns else None

    def hits(self, data: bytes) -> bool:
        """True where a closer look is due."""
        return self._known.search(data) is not None or (self._user is not None and self._user.search(data) is not None)


def automaton(pattern: str, *, utf8: bool = False) -> Any:
    """A compiled RE2 without groups, over bytes or over UTF-8."""
    options = re2.Options()
    options.encoding = re2.Options.Encoding.UTF8 if utf8 else re2.Options.Encoding.LATIN1
    options.dot_nl = not utf8
    options.never_capture = True
    options.log_errors = False
    options.max_mem = 64 << 20
    return re2.compile(pattern.encode(), options)


def unanchored(pattern: str) -> str:
    """The pattern without what it says of its surroundings: it then matches in a longer text whatever it did alone."""
    kept = _ITEM.sub(lambda item: "" if item[0] in _ASSERTIONS else item[0], pattern)
    return f"(?:{kept})"


_ITEM = re.compile(r"\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|.", re.DOTALL)
_ASSERTIONS = frozenset(["^", "$", r"\b", r"\B", r"\A", r"\z"])


def _in_text(pattern: str) -> str:
    return pattern.replace("{B}", _BEGIN).replace("{D}", "(?:^|[^0-9])").replace("{E}", "(?:$|[^0-9])")


def problem_of(pattern: str) -> str:
    """Why a user's pattern cannot be, '' when it can: it has to be RE2's syntax, and not match nearly everything."""
    try:
        compiled = _user_pattern(pattern)
        automaton(unanchored(pattern), utf8=True)
    except re2.error as error:
        said = error.args[0] if error.args else ""
        text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        return f"not a regular expression of RE2's syntax (it has no look-around and no back references): {text}"
    erased = sum(sum(m.end() - m.start() for m in compiled.finditer(text.encode())) for text in ORDINARY)
    share = erased / sum(map(len, ORDINARY))
    if compiled.search(b"") is None and share <= MOST_ERASED:
        return ""
    return f"would erase {share:.0%} of ordinary text: say more of what the secret looks like"


def _user_pattern(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern.encode(), options)
