"""SQL functions of queries/views without any store: for numbers that need no data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from collector.errors import StoreError
from collector.store.sqlfiles import view_files


def calculated(sql: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The one row of a query that reads no table, over the functions of queries/views. Raises StoreError.

    For a process that opens no embedded store: chDB has one path a process, here its memory.
    """
    import chdb

    try:
        connection = chdb.connect(":memory:")
        try:
            for file in view_files():
                if file.kind == "FUNCTION":
                    connection.query(file.statement)
            told = connection.query(sql, "JSONEachRow", params=dict(parameters))
            row: dict[str, Any] = json.loads(str(told.data()))
            return row
        finally:
            connection.close()
    except RuntimeError as error:
        raise StoreError(str(error).splitlines()[0]) from error
