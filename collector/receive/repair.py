"""The second look at protobuf that does not parse: one broken string, or one broken span, must not cost the batch.

The C parser refuses a whole request for one byte that is no UTF-8. This pass walks the wire format down to what does
not parse, replaces only the broken bytes by U+FFFD, and leaves out a record whose framing is beyond repair.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from collector.errors import BadData
from collector.journal import Signal
from collector.receive.check import SHAPES
from collector.receive.findings import INVALID_TEXT, Findings

LENGTH = 2  # the wire type of strings, bytes and messages
MAX_DEPTH = 100  # the C parser's own
MAX_FIELDS = 1_000_000  # looked at in one request: more is a second of work for what is probably garbage
MAX_PARSED = 64 << 20  # bytes the C parser may be asked to read, besides ten times the request itself

Path: TypeAlias = tuple[str | int, ...]


class _Field(NamedTuple):
    number: int
    wire: int
    start: int  # of the tag
    value: int  # of the value, behind its length
    end: int


class _Broken(ValueError):
    """The framing itself is wrong."""


def repair(body: bytes, signal: Signal, findings: Findings) -> Any:
    """The request with its broken strings repaired and marked, and its broken records left out and counted.

    Raises BadData when the framing around the records is broken, so that nothing in it can be told apart.
    """
    shape = SHAPES[signal]
    repairer = _Repairer(body, signal, findings)
    try:
        request = shape.request.FromString(repairer.mend(body, shape.request.DESCRIPTOR, ()))
    except (_Broken, DecodeError) as error:
        raise BadData(f"the body is not a protobuf {shape.request.DESCRIPTOR.name}") from error
    for path in repairer.texts:
        element, node, rest = _element(request, path)
        findings.repair(element, INVALID_TEXT, _shown(node, rest))
    return request


class _Repairer:
    def __init__(self, body: bytes, signal: Signal, findings: Findings) -> None:
        self._shape = SHAPES[signal]
        self._findings = findings
        self._fields_left = MAX_FIELDS
        self._bytes_left = MAX_PARSED + 10 * len(body)
        self.texts: list[Path] = []  # where strings were repaired

    def mend(self, data: bytes, descriptor: Descriptor, path: Path) -> bytes:
        """`data` with every string under it valid."""
        if len(path) > 2 * MAX_DEPTH:
            raise _Broken
        pieces: list[bytes] = []
        copied = 0
        seen: dict[str, int] = {}
        for field in self._fields(data):
            known = descriptor.fields_by_number.get(field.number)
            if known is None or field.wire != LENGTH:
                continue
            here = path + self._step(known, seen)
            mended = self._value(data[field.value : field.end], known, here)
            if (
                mended is not None
                and len(mended) == field.end - field.value
                and mended == data[field.value : field.end]
            ):
                continue
            pieces.append(data[copied : field.start])
            if mended is None:
                seen[known.name] -= 1
            else:
                pieces += (_varint(field.number << 3 | LENGTH), _varint(len(mended)), mended)
            copied = field.end
        pieces.append(data[copied:])
        return b"".join(pieces)

    def _step(self, field: FieldDescriptor, seen: dict[str, int]) -> Path:
        if not field.is_repeated:
            return (field.name,)
        seen[field.name] = seen.get(field.name, -1) + 1
        return (field.name, seen[field.name])

    def _value(self, value: bytes, field: FieldDescriptor, path: Path) -> bytes | None:
        """The value of one field, mended; None when it is a record that must be left out."""
        if field.type == FieldDescriptor.TYPE_STRING:
            return self._text(value, path)
        if field.message_type is None or self._parses(value, field.message_type):
            return value
        if len(path) == 6 and path[4] == self._shape.records:
            return self._record(value, field.message_type, path)
        return self.mend(value, field.message_type, path)

    def _text(self, value: bytes, path: Path) -> bytes:
        try:
            value.decode()
        except UnicodeDecodeError:
            self.texts.append(path)
            return value.decode("utf-8", "replace").encode()
        return value

    def _record(self, value: bytes, descriptor: Descriptor, path: Path) -> bytes | None:
        known = len(self.texts)
        try:
            mended = self.mend(value, descriptor, path)
            if self._parses(_wrapped(mended), self._shape.request.DESCRIPTOR):
                return mended
        except _Broken:
            pass
        del self.texts[known:]
        shape = self._shape
        shown = f"{shape.json_groups}[{path[1]}].{shape.json_scopes}[{path[3]}].{shape.json_records}[{path[5]}]"
        self._findings.refuse("undecodable", shown, "its protobuf is broken or nested too deeply")
        return None

    def _parses(self, value: bytes, descriptor: Descriptor) -> bool:
        self._bytes_left -= len(value)
        if self._bytes_left < 0:
            raise BadData("the body is not valid protobuf, and too much of it is broken to repair it")
        try:
            GetMessageClass(descriptor).FromString(value)
        except DecodeError:
            return False
        return True

    def _fields(self, data: bytes) -> Iterator[_Field]:
        position = 0
        while position < len(data):
            self._fields_left -= 1
            if self._fields_left < 0:
                raise BadData("the body is not valid protobuf, and too large to be repaired")
            start = position
            tag, position = read_varint(data, position)
            number, wire = tag >> 3, tag & 7
            value, position = _skip(data, position, wire)
            if number == 0 or position > len(data):
                raise _Broken
            yield _Field(number, wire, start, value, position)


def _skip(data: bytes, position: int, wire: int) -> tuple[int, int]:
    """Where the value of a field starts and ends."""
    if wire == 0:
        return position, read_varint(data, position)[1]
    if wire == 1:
        return position, position + 8
    if wire == LENGTH:
        size, position = read_varint(data, position)
        return position, position + size
    if wire == 5:
        return position, position + 4
    raise _Broken  # groups: no OTLP message has one


def read_varint(data: bytes, position: int) -> tuple[int, int]:
    """The value and the position behind it. Raises ValueError when it does not end."""
    value = shift = 0
    while position < len(data) and shift < 64:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
    raise _Broken


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _wrapped(record: bytes) -> bytes:
    """The record as the only one of a request: nesting counts from the request. Fields 2, 2, 1 of the three levels."""
    for tag in (b"\x12", b"\x12", b"\x0a"):
        record = tag + _varint(len(record)) + record
    return record


def _element(request: Any, path: Path) -> tuple[Any, Any, Path]:
    """The message that carries the mark (record, scope or resource), and the rest of the path from a message on."""
    group = getattr(request, str(path[0]))[path[1]]
    if len(path) > 5 and isinstance(path[5], int):
        record = getattr(getattr(group, str(path[2]))[path[3]], str(path[4]))[path[5]]
        return record, record, path[6:]
    if len(path) > 4 and path[4] == "scope":
        scope = getattr(group, str(path[2]))[path[3]].scope
        return scope, scope, path[5:]
    if path[2] == "resource":
        return group.resource, group.resource, path[3:]
    return group.resource, group, path[2:]


def _shown(node: Any, path: Path) -> str:
    """The path from a message as people read it: `attributes.KEY` for `attributes, 3, value, string_value`."""
    shown = ""
    for name in path:
        if isinstance(name, int):
            node = node[name]
            key = getattr(node, "key", None)
            shown += f"[{name}]" if key is None else f".{key}"
        else:
            said = "" if name in _UNSAID else node.DESCRIPTOR.fields_by_name[name].json_name
            node = getattr(node, name)
            shown += f".{said}" if said and shown else said
    return shown


_UNSAID = frozenset({"key", "value", "values", "string_value", "array_value", "kvlist_value"})
