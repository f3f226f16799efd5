"""Which record makes a request too large: read off the bytes that arrived before it was refused, without decoding them.

The beginning of a request is no message that a parser takes. Its frames are enough: three levels of lengths down to the
records, the lengths as they are claimed. JSON has none, so nothing is said of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from collector.journal import Signal

MOST = 100_000  # fields looked at in all: a request of nothing but empty ones must not cost seconds
NAME_CHARS = 100
RECORDS = (1, 2, 2)  # resource_spans, scope_spans, spans; the same numbers for logs
NOUNS: dict[Signal, str] = {"traces": "span", "logs": "log record"}
NAMES: dict[Signal, int] = {"traces": 5, "logs": 12}  # Span.name, LogRecord.event_name
ATTRIBUTES: dict[Signal, int] = {"traces": 9, "logs": 6}
KEY = 1

Frame = tuple[int, int, int]  # number of the field, where its content begins, how many bytes it claims


def largest(body: bytes | bytearray, signal: Signal, harmless: Callable[[str], str]) -> str:
    """A clause for a refusal: the largest of the records that began, and its largest attribute. '' where none did.

    `harmless` takes secrets out of names: a refused request never came to the redaction.
    """
    with memoryview(body) as data:
        records = list(_Frames(data).records(0, len(data)))
        if not records:
            return ""
        _, at, size = max(records, key=lambda frame: frame[2])
        inside = _Frames(data)
        fields = list(inside.of(at, at + size))
        name = next((inside.text(frame) for frame in fields if frame[0] == NAMES[signal]), "")
        most = ""
        attribute = max((f for f in fields if f[0] == ATTRIBUTES[signal]), key=lambda frame: frame[2], default=None)
        if attribute is not None and attribute[2] * 2 > size:
            key = next(
                (inside.text(f) for f in inside.of(attribute[1], attribute[1] + attribute[2]) if f[0] == KEY), ""
            )
            most = f", most of it in {harmless(key)[:NAME_CHARS]!r} ({attribute[2]} bytes)"
        shown = harmless(name)[:NAME_CHARS]
        return f"; of the {len(records)} {NOUNS[signal]}s read the largest is {shown!r} with {size} bytes{most}"


class _Frames:
    """The length-delimited fields of nested messages, as far as they arrived."""

    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._left = MOST

    def records(self, at: int, end: int, level: int = 0) -> Iterator[Frame]:
        """The spans or log records of a request."""
        for frame in self.of(at, end):
            if frame[0] == RECORDS[level]:
                deeper = level + 1 < len(RECORDS)
                yield from self.records(frame[1], frame[1] + frame[2], level + 1) if deeper else (frame,)

    def of(self, at: int, end: int) -> Iterator[Frame]:
        """The fields of the message there; ends where the bytes end or are no fields."""
        while at < min(end, len(self._data)) and self._left > 0:
            self._left -= 1
            tag, at = self._varint(at)
            number, kind = tag >> 3, tag & 7
            if number == 0 or kind not in (0, 1, 2, 5):
                return
            if kind == 2:
                length, at = self._varint(at)
                yield number, at, length
                at += length
            elif kind == 0:
                _, at = self._varint(at)
            else:
                at += 8 if kind == 1 else 4

    def text(self, frame: Frame) -> str:
        _, at, length = frame
        # Longer than what is shown: a secret that is cut off could not be recognised.
        return bytes(self._data[at : at + min(length, 8 * NAME_CHARS)]).decode("utf-8", "replace")

    def _varint(self, at: int) -> tuple[int, int]:
        """The number and where it ends; at the end of the bytes, or when longer than numbers are, what is there."""
        value = 0
        for shift, byte in enumerate(self._data[at : at + 10]):
            value |= (byte & 0x7F) << 7 * shift
            if byte < 0x80:
                return value, at + shift + 1
        return value, at + 10
