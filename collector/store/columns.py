"""Records → Arrow columns, with the types that ClickHouse says its table has.

Arrow because it was the fastest exact way in (figures in docs/performance.md): values go through C, once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate, chain
from typing import Any

import pyarrow as pa
from clickhouse_connect.driver.client import Client
from msgspec import Struct
from msgspec.structs import astuple

_SCALARS = {
    "String": pa.string(),
    "Bool": pa.bool_(),
    "UInt8": pa.uint8(),
    "UInt16": pa.uint16(),
    "UInt32": pa.uint32(),
    "UInt64": pa.uint64(),
    "Int32": pa.int32(),
    "Int64": pa.int64(),
    "Float64": pa.float64(),
    "DateTime('UTC')": pa.timestamp("s", "UTC"),
    "DateTime64(3, 'UTC')": pa.timestamp("ms", "UTC"),
    "DateTime64(9, 'UTC')": pa.timestamp("ns", "UTC"),
}
_WRAPPED = re.compile(r"(LowCardinality|Nullable|Array|Map)\((.*)\)")


def arrow_type(clickhouse: str) -> pa.DataType:
    """The Arrow type whose values a column of this ClickHouse type takes unchanged."""
    found = _WRAPPED.fullmatch(clickhouse)
    if found is None:
        return _SCALARS[clickhouse]
    wrapper, inner = found.groups()
    if wrapper == "Array":
        return pa.list_(arrow_type(inner))
    if wrapper == "Map":
        key, _, value = inner.partition(", ")
        return pa.map_(arrow_type(key), arrow_type(value))
    return arrow_type(inner)


class TableColumns:
    """How records of one type become rows of one table; fields that are no column are left out."""

    def __init__(self, table: str, record: type[Struct], types: dict[str, str]) -> None:
        self.table = table
        self._picked = [
            (i, name, arrow_type(types[name])) for i, name in enumerate(record.__struct_fields__) if name in types
        ]

    def arrow(self, rows: Sequence[Struct]) -> pa.Table:
        columns = list(zip(*map(astuple, rows), strict=True))
        return pa.table({name: _column(columns[i], kind) for i, name, kind in self._picked})


def table_types(client: Client, database: str) -> dict[str, dict[str, str]]:
    """Type by column of every table, without those the server computes."""
    rows = client.query(
        "SELECT table, name, type FROM system.columns WHERE database = {db:String} AND default_kind != 'MATERIALIZED'",
        parameters={"db": database},
    ).result_rows
    found: dict[str, dict[str, str]] = {}
    for table, name, kind in rows:
        found.setdefault(table, {})[name] = kind
    return found


def _column(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    if pa.types.is_map(kind):
        offsets = pa.array(list(accumulate(map(len, values), initial=0)), pa.int32())
        keys = _array(list(chain.from_iterable(values)), kind.key_type)
        items = _array(list(chain.from_iterable(map(dict.values, values))), kind.item_type)
        return pa.MapArray.from_arrays(offsets, keys, items)
    if kind == pa.string() and values and isinstance(values[0], bytes):
        return pa.array(values, pa.binary())
    return _array(values, kind)


def _array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    try:
        return pa.array(values, kind)
    except UnicodeEncodeError:  # half a surrogate pair, out of some JSON text: shown as \\udxxx, never a lost batch
        return pa.array([_mended(value) for value in values], kind)


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    return [_mended(item) for item in value] if isinstance(value, list | tuple) else value
