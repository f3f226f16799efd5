"""The fields of OTLP/JSON messages: one setter a field, made from the protobuf descriptors.

Ids are hex in either case, enums are integers only, 64-bit integers are decimal text or numbers and stay exact, unknown
keys are ignored, null is absent. What can be repaired is, and is noted; what cannot raises Wrong with its path.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from typing import Any, TypeAlias

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from collector.receive.findings import INVALID_TEXT, OVERSIZED_DOUBLE, OVERSIZED_INTEGER, SEVERAL_KINDS

MAX_DEPTH = 100  # of messages in messages: what the protobuf parser takes, so that both encodings have one limit
NOT_HEX = b"?"  # stands for an id that is no hex text: a length that no id has, so that the check of ids refuses it
SURROGATE = re.compile("[\ud800-\udfff]")
DECIMAL = re.compile(r"-?[0-9]+")
NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
DIGITS = 20  # most characters of a 64-bit integer, sign included: longer text is not even converted
INFINITY = float("inf")
DOUBLE_WORDS = {"NaN": float("nan"), "Infinity": INFINITY, "-Infinity": -INFINITY}
URL_SAFE = str.maketrans("-_", "+/")
INT32 = (-(1 << 31), (1 << 31) - 1)
INT64 = (-(1 << 63), (1 << 63) - 1)
BOUNDS = {
    FieldDescriptor.TYPE_ENUM: INT32,
    FieldDescriptor.TYPE_INT32: INT32,
    FieldDescriptor.TYPE_INT64: INT64,
    FieldDescriptor.TYPE_UINT32: (0, (1 << 32) - 1),
    FieldDescriptor.TYPE_FIXED32: (0, (1 << 32) - 1),
    FieldDescriptor.TYPE_UINT64: (0, (1 << 64) - 1),
    FieldDescriptor.TYPE_FIXED64: (0, (1 << 64) - 1),
}

Json: TypeAlias = Any
Setter: TypeAlias = Callable[["Reader", Any, Json, int], None]  # reader, message, value, depth of the message
Table: TypeAlias = dict[str, Setter]  # by JSON name


class Wrong(Exception):
    """A field of the wrong type or value; `path` is completed on the way out."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.path: list[str] = []

    def under(self, *names: str) -> Wrong:
        """The same, seen from further up."""
        self.path[:0] = names
        return self

    @property
    def field(self) -> str:
        """The path as text, beginning with its dot or bracket."""
        return "".join(name if name[0] == "[" else f".{name}" for name in self.path)


class Inexact(Exception):
    """The fast JSON parser made a float of an integer beyond 64 bits: the body must be read again, exactly."""


class Reader:
    """Reads fields into messages and notes repairs; `exact` says that the JSON parser kept all integers."""

    def __init__(self, exact: bool) -> None:
        self.exact = exact
        self.repairs: list[tuple[str, str]] = []  # reason and path, since they were last taken

    def fill(self, message: Any, value: Json, table: Table, depth: int) -> None:
        """Sets the known fields of a message that stands `depth` messages below the request."""
        if type(value) is not dict:
            raise Wrong("must be an object")
        if depth > MAX_DEPTH:
            raise Wrong("is nested too deeply")
        for key, item in value.items():
            setter = table.get(key)
            if setter is not None and item is not None:
                try:
                    setter(self, message, item, depth)
                except Wrong as wrong:
                    wrong.under(key)
                    raise

    def pairs(self, repeated: Any, items: Json, depth: int) -> None:
        """Attributes; `depth` is that of the message that holds them."""
        fast = not self.exact and depth + 2 <= MAX_DEPTH
        for i, item in enumerate(_list(items)):
            if type(item) is not dict:
                raise Wrong("must be an object").under(f"[{i}]")
            if depth >= MAX_DEPTH:
                raise Wrong("is nested too deeply").under(f"[{i}]")
            pair = repeated.add()
            key, value = item.get("key"), item.get("value")
            if fast and len(item) == 2 and type(key) is str and type(value) is dict and len(value) == 1:
                text = value.get("stringValue")
                if type(text) is str:  # nine attributes of ten; the rest below would do the same in twice the time
                    pair.key = key
                    pair.value.string_value = text
                    continue
            start = len(self.repairs)
            name = ""
            try:
                for name, inner in item.items():
                    if inner is None:
                        continue
                    if name == "value":
                        self.any_value(pair.value, inner, depth + 2)
                    elif name == "key":
                        pair.key = self.text(inner)
                    elif name == "keyStrindex":
                        pair.key_strindex = integer(inner, INT32)
            except Wrong as wrong:
                wrong.under(f"[{i}]", name)
                raise
            self.locate(start, pair.key[:100])

    def any_value(self, message: Any, value: Json, depth: int) -> None:
        """An AnyValue that stands `depth` messages below the request; the last kind counts when several are set."""
        if type(value) is not dict:
            raise Wrong('must be an object such as {"stringValue": "…"}')
        if depth > MAX_DEPTH:
            raise Wrong("is nested too deeply")
        kinds = [kind for kind, item in value.items() if item is not None and kind in KINDS]
        if not kinds:
            message.SetInParent()
            return
        if len(kinds) > 1:
            self.repairs.append((SEVERAL_KINDS, ""))
        kind = kinds[-1]
        try:
            KINDS[kind](self, message, value[kind], depth)
        except Wrong as wrong:
            wrong.under(kind)
            raise

    def text(self, value: Json) -> str:
        """Text that protobuf can hold: surrogates without a partner become U+FFFD."""
        if type(value) is not str:
            raise Wrong("must be text")
        if self.exact and not value.isascii() and SURROGATE.search(value):  # the fast parser lets none through
            self.repairs.append((INVALID_TEXT, ""))
            return SURROGATE.sub("\ufffd", value)
        return value

    def locate(self, start: int, name: str) -> None:
        """Says that the repairs noted since `start` lie under `name`."""
        for i in range(start, len(self.repairs)):
            reason, where = self.repairs[i]
            self.repairs[i] = (reason, f"{name}{'.' if where[:1] not in ('', '[') else ''}{where}")


def integer(value: Json, bounds: tuple[int, int]) -> int:
    """A number or decimal text; no fraction, no exponent, within the bounds."""
    if type(value) is str and len(value) <= DIGITS and DECIMAL.fullmatch(value):
        value = int(value)
    if type(value) is not int:
        raise Wrong("must be an integer, as a number or as decimal text")
    if not bounds[0] <= value <= bounds[1]:
        raise Wrong(f"must lie between {bounds[0]} and {bounds[1]}")
    return value


def _list(value: Json) -> list[Json]:
    if type(value) is not list:
        raise Wrong("must be a list")
    return value


# --- AnyValue: one setter a kind ---


def _set_string(reader: Reader, message: Any, value: Json, depth: int) -> None:
    message.string_value = reader.text(value)


def _set_bool(reader: Reader, message: Any, value: Json, depth: int) -> None:
    if type(value) is not bool:
        raise Wrong("must be true or false")
    message.bool_value = value


def _set_int(reader: Reader, message: Any, value: Json, depth: int) -> None:
    """An integer beyond 64 bits is kept as its decimal text."""
    if type(value) is float and not reader.exact and value.is_integer() and abs(value) >= 1 << 63:
        raise Inexact
    text = str(value) if type(value) is int else value
    if type(text) is not str or not DECIMAL.fullmatch(text):
        raise Wrong("must be an integer, as a number or as decimal text")
    if len(text) <= DIGITS and INT64[0] <= int(text) <= INT64[1]:
        message.int_value = int(text)
    else:
        message.string_value = text
        reader.repairs.append((OVERSIZED_INTEGER, ""))


def _set_double(reader: Reader, message: Any, value: Json, depth: int) -> None:
    """A number, its text, or NaN and the infinities as text; beyond a double it is an infinity."""
    if type(value) is str and value in DOUBLE_WORDS:
        message.double_value = DOUBLE_WORDS[value]
        return
    if type(value) not in (int, float) and not (type(value) is str and NUMBER.fullmatch(value)):
        raise Wrong("must be a number, or NaN, Infinity or -Infinity as text")
    try:
        number = float(value)
    except OverflowError:
        number = INFINITY if value > 0 else -INFINITY
    if abs(number) == INFINITY:
        reader.repairs.append((OVERSIZED_DOUBLE, ""))
    message.double_value = number


def _set_bytes(reader: Reader, message: Any, value: Json, depth: int) -> None:
    """Base64, standard or URL-safe, with or without padding."""
    try:
        text = reader.text(value).rstrip("=").translate(URL_SAFE)
        message.bytes_value = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise Wrong("must be base64 text") from error


def _set_array(reader: Reader, message: Any, value: Json, depth: int) -> None:
    message.array_value.SetInParent()
    for i, item in enumerate(_values(value, depth)):
        element = message.array_value.values.add()
        start = len(reader.repairs)
        if item is not None:
            try:
                reader.any_value(element, item, depth + 2)
            except Wrong as wrong:
                wrong.under("values", f"[{i}]")
                raise
        reader.locate(start, f"[{i}]")


def _set_kvlist(reader: Reader, message: Any, value: Json, depth: int) -> None:
    message.kvlist_value.SetInParent()
    try:
        reader.pairs(message.kvlist_value.values, _values(value, depth), depth + 1)
    except Wrong as wrong:
        wrong.under("values")
        raise


def _values(value: Json, depth: int) -> list[Json]:
    if type(value) is not dict:
        raise Wrong('must be an object with "values"')
    if depth >= MAX_DEPTH:
        raise Wrong("is nested too deeply")
    values = value.get("values")
    return [] if values is None else _list(values)


def _set_strindex(reader: Reader, message: Any, value: Json, depth: int) -> None:
    message.string_value_strindex = integer(value, INT32)


KINDS: Table = {
    "stringValue": _set_string,
    "boolValue": _set_bool,
    "intValue": _set_int,
    "doubleValue": _set_double,
    "arrayValue": _set_array,
    "kvlistValue": _set_kvlist,
    "bytesValue": _set_bytes,
    "stringValueStrindex": _set_strindex,
}


# --- all other fields: setters made from the descriptors ---

_TABLES: dict[str, Table] = {}


def table_of(descriptor: Descriptor) -> Table:
    """The setters of a message type by JSON name."""
    table = _TABLES.get(descriptor.full_name)
    if table is None:
        table = _TABLES[descriptor.full_name] = {field.json_name: _setter(field) for field in descriptor.fields}
    return table


def _setter(field: FieldDescriptor) -> Setter:
    name = field.name
    if field.message_type is not None:
        return _message_setter(field, field.message_type)
    if field.is_repeated:
        return _texts_setter(name)
    if field.type in BOUNDS:
        bounds = BOUNDS[field.type]
        return lambda reader, message, value, depth: setattr(message, name, integer(value, bounds))
    if field.type == FieldDescriptor.TYPE_BYTES:  # outside of AnyValue these are the ids
        return lambda reader, message, value, depth: setattr(message, name, _from_hex(value))
    return _text_setter(name, field.json_name)


def _from_hex(value: Json) -> bytes:
    try:
        raw = bytes.fromhex(value)
    except (ValueError, TypeError):
        return NOT_HEX
    return raw if 2 * len(raw) == len(value) else NOT_HEX  # fromhex skips spaces


def _text_setter(name: str, shown: str) -> Setter:
    def put(reader: Reader, message: Any, value: Json, depth: int) -> None:
        start = len(reader.repairs)
        setattr(message, name, reader.text(value))
        reader.locate(start, shown)

    return put


def _texts_setter(name: str) -> Setter:
    def put(reader: Reader, message: Any, value: Json, depth: int) -> None:
        getattr(message, name).extend([reader.text(item) for item in _list(value)])

    return put


def _message_setter(field: FieldDescriptor, descriptor: Descriptor) -> Setter:
    name, shown = field.name, field.json_name
    if descriptor.name == "KeyValue":

        def put(reader: Reader, message: Any, value: Json, depth: int) -> None:
            start = len(reader.repairs)
            reader.pairs(getattr(message, name), value, depth)
            reader.locate(start, shown)

    elif descriptor.name == "AnyValue":

        def put(reader: Reader, message: Any, value: Json, depth: int) -> None:
            start = len(reader.repairs)
            reader.any_value(getattr(message, name), value, depth + 1)
            reader.locate(start, shown)

    elif field.is_repeated:
        return _list_setter(name, shown, table_of(descriptor))
    else:
        table = table_of(descriptor)

        def put(reader: Reader, message: Any, value: Json, depth: int) -> None:
            start = len(reader.repairs)
            inner = getattr(message, name)
            inner.SetInParent()
            reader.fill(inner, value, table, depth + 1)
            reader.locate(start, shown)

    return put


def _list_setter(name: str, shown: str, table: Table) -> Setter:
    def put(reader: Reader, message: Any, value: Json, depth: int) -> None:
        repeated = getattr(message, name)
        for i, item in enumerate(_list(value)):
            start = len(reader.repairs)
            try:
                reader.fill(repeated.add(), item, table, depth + 1)
            except Wrong as wrong:
                wrong.under(f"[{i}]")
                raise
            reader.locate(start, f"{shown}[{i}]")

    return put
