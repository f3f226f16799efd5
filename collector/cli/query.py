"""`passhat query`: one SQL statement against the store of this machine, read only."""

from __future__ import annotations

from typing import Annotated

import typer

from collector.cli.options import Output, Settings
from collector.cli.out import result, result_json, table
from collector.errors import StoreError, UsageError


def query(
    output: Output, settings: Settings, sql: Annotated[str, typer.Argument(metavar="SQL", help="One SELECT.")]
) -> None:
    """Run one SQL statement, read only, over the tables and views of docs/sql.md."""
    from collector.cli.settings import load_config
    from collector.store.store import Store

    if settings.data is None and settings.config is None:
        raise UsageError("query needs the store itself", hint="name it: --data DIR (no server may hold it)")
    loaded = load_config(settings.config, settings.flags())
    store = Store.open(loaded.store, loaded.data)
    try:
        answer = store.query(sql, {})
    except StoreError as error:
        # What the engine says of a statement is about the statement; the store itself is open.
        raise UsageError(str(error)) from None
    finally:
        store.close()
    if output.json:
        from collector.serve.strict import plain

        result_json([plain(dict(zip(answer.columns, row, strict=True))) for row in answer.rows])
        return
    result(table(list(answer.columns), [list(row) for row in answer.rows]))
