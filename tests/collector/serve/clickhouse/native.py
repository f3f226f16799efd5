"""ClickHouse's Native blocks, decoded by the rules of its Go driver as far as the tests need."""

from __future__ import annotations

import struct
from typing import Any

CUSTOM_SERIALIZATION = 54454


class Reader:
    """Bytes, front to back."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, size: int) -> bytes:
        self.at += size
        assert self.at <= len(self.data), "cut short"
        return self.data[self.at - size : self.at]

    def varint(self) -> int:
        value = shift = 0
        while True:
            (byte,) = self.take(1)
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def text(self) -> str:
        return self.take(self.varint()).decode()


def block(data: bytes, revision: int) -> dict[str, tuple[str, list[Any]]]:
    """Columns of one block by name: type and values. Raises AssertionError when bytes are left or missing."""
    reader = Reader(data)
    if revision > 0:
        info(reader)
    columns, rows = reader.varint(), reader.varint()
    found = {}
    for _ in range(columns):
        name, kind = reader.text(), reader.text()
        if revision >= CUSTOM_SERIALIZATION:
            assert reader.take(1) == b"\0", "no custom serialisation"
        found[name] = (kind, [value(reader, kind) for _ in range(rows)])
    assert reader.at == len(data), "bytes are left"
    return found


def info(reader: Reader) -> None:
    """The block info: numbered fields up to 0."""
    while field := reader.varint():
        size = {1: 1, 2: 4}[field]
        assert reader.take(size) in (b"\0", b"\xff\xff\xff\xff")


def value(reader: Reader, kind: str) -> Any:
    if kind == "String":
        return reader.text()
    size, code = {"UInt8": (1, "<B"), "UInt32": (4, "<I"), "UInt64": (8, "<Q"), "Float64": (8, "<d")}[kind]
    return struct.unpack(code, reader.take(size))[0]
