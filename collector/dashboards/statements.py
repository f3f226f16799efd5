"""The SQL of panels, variables, annotations and alerts: queries/panels, one statement a file under what it tells."""

from __future__ import annotations

from functools import cache

from collector.store.sqlfiles import SqlFile, queries_root


@cache
def statement(name: str) -> SqlFile:
    """queries/panels/NAME.sql."""
    return SqlFile(f"panels/{name}.sql", (queries_root() / "panels" / f"{name}.sql").read_text("utf-8"))


def sql(name: str) -> str:
    return statement(name).statement


def about(name: str) -> str:
    """The header as running text: the description people read on the panel."""
    return " ".join(statement(name).header.split())
