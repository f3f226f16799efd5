"""Bring a database to this version: numbered tables once, views and functions whenever their text changed.

Every statement may be repeated (`IF NOT EXISTS`, `OR REPLACE`), and is recorded only after it ran: a crash at any
point is mended by running again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.metadata import PackageNotFoundError, version

from clickhouse_connect.driver.client import Client

from collector.errors import StoreError
from collector.store.sqlfiles import SqlFile, schema_files, view_files

Render = Callable[[str], list[str]]


def migrate(client: Client, render: Render) -> list[str]:
    """Run what this database lacks; the names of the files that ran.

    Raises StoreError when a migration was changed after it ran, or the database is from a newer passhat.
    """
    first, *rest = schema_files()
    _run(client, render, first.statement)
    done = applied(client)
    _refuse_unknown(done, [first, *rest])
    ran = [file.name for file in (first, *rest) if _run_once(client, render, file, done)]
    return ran + _replace_views(client, render, view_files(), done)


def applied(client: Client) -> dict[str, str]:
    """Checksum by name of every file this database has run."""
    rows = client.query("SELECT name, checksum FROM schema_migrations FINAL").result_rows
    return {str(name): str(checksum) for name, checksum in rows}


def _refuse_unknown(done: dict[str, str], known: list[SqlFile]) -> None:
    names = {file.name for file in known}
    newer = sorted(name for name in done if name.startswith("schema/") and name not in names)
    if newer:
        raise StoreError(
            f"the store was written by a newer passhat: it has {newer[-1]}, unknown to this version",
            hint="use that version or a later one; a store is never taken back",
        )


def _run_once(client: Client, render: Render, file: SqlFile, done: dict[str, str]) -> bool:
    if file.name in done:
        if done[file.name] != file.checksum:
            raise StoreError(
                f"{file.name} changed after this store had run it",
                hint="put the file back as it was and write the change as a new migration",
            )
        return False
    _run(client, render, file.statement)
    _record(client, [file])
    return True


def _replace_views(client: Client, render: Render, files: list[SqlFile], done: dict[str, str]) -> list[str]:
    """All or none: a view holds the text of the functions it was created with, so one change renews every view."""
    recorded = {name: checksum for name, checksum in done.items() if name.startswith("views/") and checksum}
    if recorded == {file.name: file.checksum for file in files}:
        return []
    for file in files:
        _run(client, render, file.statement)
    gone = recorded.keys() - {file.name for file in files}
    for name in gone:
        _run(client, render, f"DROP TABLE IF EXISTS `{name.removeprefix('views/').removesuffix('.sql')}`")
    _record(client, files, gone)
    return [file.name for file in files]


def _run(client: Client, render: Render, statement: str) -> None:
    for made in render(statement):
        client.command(made)


def _record(client: Client, files: Iterable[SqlFile], gone: Iterable[str] = ()) -> None:
    rows = [[file.name, file.checksum, passhat_version()] for file in files]
    rows += [[name, "", passhat_version()] for name in gone]
    client.insert("schema_migrations", rows, column_names=["name", "checksum", "passhat"])


def passhat_version() -> str:
    try:
        return version("passhat")
    except PackageNotFoundError:
        return "checkout"
