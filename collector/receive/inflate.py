"""The only place where compressed requests are inflated: step by step, bounded, whatever the header claims."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import Protocol

import zstandard

from collector.errors import BadData, TooLarge, UnsupportedMedia

STEP = 64 << 10  # most bytes inflated at once
ZSTD_STEP = 512  # compressed bytes fed at once: zstd turns 4 bytes into 128 KiB at most, so 16 MiB a step
ZSTD_WINDOW = 8 << 20  # RFC 9659: what every receiver of zstd content must take, and all that one needs
CODINGS = ("gzip", "zstd")


class _Member(Protocol):
    """One gzip or zlib member, or one zstd frame."""

    def steps(self, data: bytes) -> Iterator[bytes]:
        """Inflated bytes of `data`, a bounded piece at a time."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...


class _ZlibMember:
    def __init__(self, wbits: int) -> None:
        self._codec = zlib.decompressobj(wbits=wbits)

    def steps(self, data: bytes) -> Iterator[bytes]:
        while data and not self._codec.eof:
            yield self._codec.decompress(data, STEP)
            data = self._codec.unconsumed_tail

    @property
    def eof(self) -> bool:
        return self._codec.eof

    @property
    def unused_data(self) -> bytes:
        return self._codec.unused_data


class _ZstdFrame:
    def __init__(self) -> None:
        self._codec = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW).decompressobj()

    def steps(self, data: bytes) -> Iterator[bytes]:
        yield self._codec.decompress(data)

    @property
    def eof(self) -> bool:
        return self._codec.eof

    @property
    def unused_data(self) -> bytes:
        return self._codec.unused_data


class Inflater:
    """Collects the body of one request as it arrives, inflated, up to `max_bytes`; raises as soon as it is too large.

    `coding` is '' (as sent), 'gzip', 'zstd' or 'deflate' (zlib, used by gRPC). Members of a multi-member body follow
    each other; what follows them and is no member is BadData.
    """

    def __init__(self, coding: str, max_bytes: int) -> None:
        self._coding = coding
        self._max = max_bytes
        self._body = bytearray()
        self._taken = 0
        self._member: _Member | None = None

    @property
    def size(self) -> int:
        """Bytes held so far."""
        return len(self._body)

    @property
    def held(self) -> bytearray:
        """What was inflated so far; not a copy."""
        return self._body

    def feed(self, chunk: bytes) -> None:
        """Takes the next bytes as sent. Raises TooLarge or BadData."""
        self._taken += len(chunk)
        if self._taken > self._max:
            if not self._coding:
                self._body += chunk[: self._max - len(self._body)]
            raise TooLarge(f"the request is larger than {self._max} bytes as sent")
        if not self._coding:
            self._body += chunk
            return
        try:
            for piece in _pieces(chunk, self._coding):
                self._inflate(piece)
        except (zlib.error, zstandard.ZstdError) as error:
            raise BadData(f"the body is not valid {self._coding}") from error

    def finish(self) -> bytes:
        """The whole body. Raises BadData when it was cut short."""
        if self._coding and self._taken == 0:
            raise BadData(f"the body is empty, which is not valid {self._coding}")
        if self._member is not None and not self._member.eof:
            raise BadData(f"the {self._coding} body was cut short")
        body = bytes(self._body)
        self._body = bytearray()
        return body

    def _inflate(self, data: bytes) -> None:
        while data:
            if self._member is None or self._member.eof:
                self._member = _member(self._coding)
            for inflated in self._member.steps(data):
                self._keep(inflated)
            data = self._member.unused_data

    def _keep(self, inflated: bytes) -> None:
        if len(self._body) + len(inflated) > self._max:
            self._body += inflated[: self._max - len(self._body)]  # the refusal names what is large in it
            raise TooLarge(f"the request inflates to more than {self._max} bytes ({self._taken} bytes as sent)")
        self._body += inflated


def _pieces(chunk: bytes, coding: str) -> Iterator[bytes]:
    step = ZSTD_STEP if coding == "zstd" else STEP
    for start in range(0, len(chunk), step):
        yield chunk[start : start + step]


def _member(coding: str) -> _Member:
    return _ZstdFrame() if coding == "zstd" else _ZlibMember(31 if coding == "gzip" else 15)


def inflate(body: bytes, coding: str, max_bytes: int) -> bytes:
    """A whole body at once; see Inflater."""
    inflater = Inflater(coding, max_bytes)
    inflater.feed(body)
    return inflater.finish()


def inflated(chunks: Iterable[bytes], coding: str) -> Iterator[bytes]:
    """A file of any size, piece by piece. Raises BadData when it is damaged or cut short."""
    member = None
    try:
        for piece in (piece for chunk in chunks for piece in _pieces(chunk, coding)):
            while piece:
                if member is None or member.eof:
                    member = _member(coding)
                yield from member.steps(piece)
                piece = member.unused_data
    except (zlib.error, zstandard.ZstdError) as error:
        raise BadData(f"not valid {coding} from here on") from error
    if member is not None and not member.eof:
        raise BadData(f"the {coding} data was cut short")


def coding_of(header: str) -> str:
    """The coding a Content-Encoding header names. Raises UnsupportedMedia for one not offered, BadData for several."""
    coding = header.strip().lower()
    if coding in ("", "identity"):
        return ""
    if "," in coding:
        raise BadData("stacked content encodings are not accepted: send one of " + ", ".join(CODINGS))
    coding = coding.removeprefix("x-")
    if coding not in CODINGS:
        raise UnsupportedMedia("content encoding not offered: send identity, " + ", ".join(CODINGS))
    return coding


def coding_by_magic(message: bytes) -> str:
    """The coding of a gRPC message by its first bytes: gRPC tells a handler that it is compressed, not how.

    No OTLP request can begin like gzip (0x1f is wire type 7, which does not exist), and none that an encoder writes
    like zlib (0x78 is field 15, which does not exist).
    """
    if message[:2] == b"\x1f\x8b":
        return "gzip"
    if message[:1] == b"\x78" and len(message) > 2 and (message[0] << 8 | message[1]) % 31 == 0:
        return "deflate"
    return ""
