"""`passhat query`: one SQL statement, read only, by the SQL endpoint of a server or of a store opened here."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from collector.cli.client import api
from collector.cli.options import Source
from collector.cli.out import result, result_bytes, result_json, table
from collector.errors import StoreError, UsageError

if TYPE_CHECKING:
    import httpx

# Answered by the endpoint when the statement itself asks for nothing else: names, types and rows in order.
FORMAT = "JSONCompact"


def query(
    source: Source,
    sql: Annotated[str, typer.Argument(metavar="SQL", help="One SELECT; `-` reads it from stdin.")],
    param: Annotated[
        list[str] | None,
        typer.Option("--param", metavar="NAME=VALUE", help="A value for {NAME:Type} (repeatable).", show_default=False),
    ] = None,
) -> None:
    """Run one SQL statement, read only, over the tables and views of docs/sql.md."""
    statement = sys.stdin.read() if sql == "-" else sql
    wanted = {"default_format": FORMAT, "output_format_json_quote_64bit_integers": "0", **_params(param or [])}
    with api(source) as asked:
        reply = asked.send("POST", "/clickhouse", params=wanted, content=statement.encode())
        where = asked.where
    if not reply.is_success:
        raise _refusal(reply)
    if "x-clickhouse-format" not in reply.headers:
        raise StoreError(f"{where} answers, but not as passhat does", hint="is --server the web address?")
    if reply.headers["x-clickhouse-format"] != FORMAT:
        result_bytes(reply.content)  # in the format that the statement asked for
        return
    found = json.loads(reply.content) if reply.content else {"meta": [], "data": []}
    names = [column["name"] for column in found["meta"]]
    if source.json:
        result_json([dict(zip(names, row, strict=True)) for row in found["data"]])
        return
    result(table(names, found["data"]))


def _params(given: list[str]) -> dict[str, str]:
    """`NAME=VALUE` as the endpoint takes them: backslashes and line breaks escaped."""
    found = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not name.isidentifier() or not equals:
            raise UsageError(f"--param {text}: write NAME=VALUE")
        escaped = value.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")
        found[f"param_{name}"] = escaped
    return found


def _refusal(reply: httpx.Response) -> UsageError | StoreError:
    """What the endpoint said: wrong or refused statements are the caller's."""
    text = reply.text.strip() or f"answered {reply.status_code}"
    if 400 <= reply.status_code < 500:
        return UsageError(text, hint="what may be asked: docs/sql-endpoint.md, docs/sql.md")
    return StoreError(text)
