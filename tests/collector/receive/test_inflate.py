"""Inflating: bounded, step by step, and never a silent cut."""

from __future__ import annotations

import gzip
import os
import resource
import zlib

import pytest
import zstandard

from collector.errors import BadData, TooLarge, UnsupportedMedia
from collector.receive.inflate import Inflater, coding_by_magic, coding_of, inflate, inflated

MIB = 1 << 20
TEXT = os.urandom(1000) * 300
PACK = {
    "gzip": gzip.compress,
    "zstd": lambda data: zstandard.ZstdCompressor(write_checksum=True).compress(data),
    "deflate": zlib.compress,
}
CODINGS = sorted(PACK)


@pytest.mark.parametrize("coding", CODINGS)
def test_inflates_what_was_packed_whatever_the_chunks(coding: str) -> None:
    packed = PACK[coding](TEXT)
    assert inflate(packed, coding, MIB) == TEXT
    inflater = Inflater(coding, MIB)
    for i in range(len(packed)):
        inflater.feed(packed[i : i + 1])
    assert inflater.finish() == TEXT


@pytest.mark.parametrize("coding", CODINGS)
def test_members_follow_each_other_and_share_one_limit(coding: str) -> None:
    packed = PACK[coding](TEXT)
    assert inflate(packed * 2, coding, 2 * len(TEXT)) == TEXT * 2
    with pytest.raises(TooLarge, match="inflates to more than"):
        inflate(packed * 2, coding, 2 * len(TEXT) - 1)


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize(
    "spoil",
    [
        lambda packed: packed[:-1],
        lambda packed: packed[: len(packed) // 2],
        lambda packed: packed[:1],
        lambda packed: b"",
        lambda packed: packed + b"junk",
        lambda packed: packed + b"\0" * 8,
        lambda packed: packed[:-6] + bytes(b ^ 0xFF for b in packed[-6:]),
        lambda packed: TEXT,
    ],
    ids=["last byte", "half", "first byte", "empty", "junk behind", "zeros behind", "checksum", "plain"],
)
def test_damaged_is_bad_data(coding: str, spoil: object) -> None:
    with pytest.raises(BadData, match=coding):
        inflate(spoil(PACK[coding](TEXT)), coding, MIB)  # type: ignore[operator]


@pytest.mark.parametrize("coding", CODINGS)
def test_exactly_the_limit_is_accepted_and_one_byte_more_is_not(coding: str) -> None:
    assert len(inflate(PACK[coding](bytes(1000)), coding, 1000)) == 1000
    with pytest.raises(TooLarge):
        inflate(PACK[coding](bytes(1001)), coding, 1000)


def test_plain_is_bounded_too() -> None:
    assert inflate(b"abc", "", 3) == b"abc"
    assert inflate(b"", "", 3) == b""
    with pytest.raises(TooLarge, match="larger than 3 bytes"):
        inflate(b"abcd", "", 3)


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_a_bomb_is_refused_before_it_takes_memory(coding: str) -> None:
    packer = zlib.compressobj(9, wbits=31) if coding == "gzip" else zstandard.ZstdCompressor().compressobj()
    bomb = b"".join([packer.compress(bytes(MIB)) for _ in range(500)] + [packer.flush()])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(TooLarge):
        inflate(bomb, coding, 64 * MIB)
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < 100


def test_a_zstd_window_larger_than_http_allows_is_refused() -> None:
    wide = zstandard.ZstdCompressionParameters(window_log=27)
    packer = zstandard.ZstdCompressor(compression_params=wide).compressobj()
    with pytest.raises(BadData, match="zstd"):
        inflate(packer.compress(TEXT) + packer.flush(), "zstd", MIB)


def test_coding_of_a_header() -> None:
    assert [coding_of(h) for h in ("", "identity", "GZIP", " gzip ", "x-gzip", "zstd")] == [
        "",
        "",
        *["gzip"] * 3,
        "zstd",
    ]
    for unknown in ("br", "deflate", "snappy"):
        with pytest.raises(UnsupportedMedia):
            coding_of(unknown)
    for stacked in ("gzip, gzip", "gzip,identity", "zstd, gzip"):
        with pytest.raises(BadData, match="stacked"):
            coding_of(stacked)


def test_coding_of_a_grpc_message() -> None:
    assert coding_by_magic(gzip.compress(b"x")) == "gzip"
    assert {coding_by_magic(zlib.compress(b"x", level)) for level in (1, 6, 9)} == {"deflate"}
    assert coding_by_magic(b"\x0a\x03abc") == ""
    assert coding_by_magic(b"") == ""


@pytest.mark.parametrize("coding", CODINGS)
def test_a_file_of_any_size_is_inflated_piece_by_piece(coding: str) -> None:
    packed = PACK[coding](TEXT) * 2
    assert b"".join(inflated(iter([packed[:100], packed[100:]]), coding)) == TEXT * 2
    with pytest.raises(BadData, match="cut short"):
        list(inflated(iter([packed[:-1]]), coding))
    with pytest.raises(BadData, match="from here on"):
        list(inflated(iter([packed + b"junk!"]), coding))
