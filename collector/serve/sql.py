"""The small queries of the API: files in queries/api, parameters always bound."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from collector.store.sqlfiles import queries_root
from collector.store.store import Store

Row = dict[str, Any]


@cache
def statement(name: str) -> str:
    """The SQL of `queries/api/<name>.sql`, without its header."""
    text = (queries_root() / "api" / f"{name}.sql").read_text("utf-8")
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("--"))


def read(store: Store, name: str, parameters: Mapping[str, Any]) -> list[Row]:
    """The rows of a query. Raises StoreError."""
    return store.query(statement(name), parameters).dicts()
