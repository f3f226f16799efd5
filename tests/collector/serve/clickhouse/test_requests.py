"""Attacks by the request around a statement: settings, headers, sessions, forms, methods, bytes; and by its size."""

from __future__ import annotations

import gzip
from typing import Any

import httpx
import pytest

from tests.collector.serve.clickhouse.conftest import Bait

FILE = "SELECT file('{secret}')"
NESTED = "\r\nContent-Type: multipart/mixed; boundary=y"
FORM = {"Content-Type": "multipart/form-data; boundary=x"}


def part(name: str, value: str, more: str = "") -> str:
    return f'--x\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n{value}\r\n'


# Each with the request it makes and ClickHouse's code of the refusal.
REQUESTS: dict[str, tuple[dict[str, Any], str]] = {
    "a writing setting in the URL": ({"params": {"readonly": "0"}, "content": "SELECT 1"}, "164"),
    "a setting twice": ({"params": [("readonly", "1"), ("readonly", "0")], "content": "SELECT 1"}, "164"),
    "a setting in other letters": ({"params": {"ReadOnly": "0"}, "content": "SELECT 1"}, "164"),
    "a setting with a space": ({"params": {"readonly ": "0"}, "content": "SELECT 1"}, "164"),
    "a value that ends the setting": (
        {"params": {"session_timezone": "UTC', readonly = 0, log_comment = '"}, "content": "SELECT 1"}, "164"
    ),
    "a profile": ({"params": {"profile": "default"}, "content": "SELECT 1"}, "164"),
    "a role": ({"params": {"role": "admin"}, "content": "SELECT 1"}, "164"),
    "a filter that is an expression": (
        {"params": {"additional_table_filters": "{'runs': '1'}"}, "content": "SELECT 1"}, "164"
    ),
    "more threads and cheaper locks": ({"params": {"max_block_size": "1"}, "content": "SELECT 1"}, "164"),
    "the structure of external data": (
        {"params": {"t_structure": "x String", "t_format": "CSV"}, "content": "SELECT * FROM t"}, "164"
    ),
    "two statements in two parameters": (
        {"params": [("query", "SELECT 1"), ("query", "DROP TABLE runs")]}, "164"
    ),
    "a statement in the URL, its second half in the body": (
        {"params": {"query": "SELECT 1;"}, "content": "DROP TABLE runs"}, "62"
    ),
    "an insert in the URL, its rows in the body": (
        {"params": {"query": "INSERT INTO runs FORMAT JSONEachRow"}, "content": '{"project": "x"}'}, "164"
    ),
    "a comment in the URL that swallows": ({"params": {"query": "/*"}, "content": "*/ DROP TABLE runs"}, "164"),
    "a format by a header": ({"headers": {"X-ClickHouse-Format": "Template"}, "content": "SELECT 1"}, "73"),
    "a format by a parameter": ({"params": {"default_format": "CapnProto"}, "content": "SELECT 1"}, "73"),
    "a database by a header": (
        {"headers": {"X-ClickHouse-Database": "system"}, "content": "SELECT * FROM processes"}, "60"
    ),
    "a database by a parameter": (
        {"params": {"database": "system"}, "content": "SELECT * FROM processes"}, "60"
    ),
    "the database that reads files": (
        {"params": {"database": "default"}, "content": "SELECT * FROM `{secret}`"}, "60"
    ),
    "a file as a table of ours": ({"content": "SELECT * FROM passhat.`{secret}`"}, "60"),
    "a file as a text in FROM": ({"content": "SELECT * FROM '{secret}'"}, "60"),
    "a temporary table in a session": (
        {"params": {"session_id": "s"}, "content": "CREATE TEMPORARY TABLE x (a Int32)"}, "164"
    ),
    "a setting for a session": ({"params": {"session_id": "s"}, "content": "SET readonly = 0"}, "164"),
    "a statement in a form": ({"headers": FORM, "content": part("query", FILE) + "--x--\r\n"}, "497"),
    "a form with two statements": (
        {"headers": FORM, "content": part("query", "SELECT 1") + part("query", FILE) + "--x--\r\n"}, "497"
    ),
    "a form within a form": (
        {"headers": FORM, "content": part("query", FILE, NESTED) + "--x--\r\n"},
        "497",
    ),
    "a form with a file": (
        {"headers": FORM, "content": part("t", "1", '; filename="t"') + "--x--\r\n"}, "457"
    ),
    "a form without an end": ({"headers": FORM, "content": part("query", FILE)}, "497"),
    "blocks that ClickHouse compressed": ({"params": {"decompress": "1"}, "content": b"\x00" * 32}, "1002"),
    "an encoding nobody knows": ({"headers": {"Content-Encoding": "xz"}, "content": "SELECT 1"}, "1002"),
    "an encoding of an encoding": (
        {"headers": {"Content-Encoding": "gzip, gzip"}, "content": gzip.compress(gzip.compress(b"SELECT 1"))}, "1002"
    ),
    "bytes that are no text": ({"content": b"SELECT '\xff\xfe'"}, "62"),
    "a text of two bytes a letter": ({"content": "SELECT 1".encode("utf-16")}, "62"),
    "a zero byte": ({"content": b"SELECT 1\x00; DROP TABLE runs"}, "62"),
    "a parameter that is a statement": (
        {"params": {"param_a": "1) UNION ALL SELECT file('{secret}') --"}, "content": "SELECT {a:UInt8}"}, "457"
    ),
    "a parameter that is not there": ({"content": "SELECT {a:String}"}, "456"),
    "a parameter for a function": (
        {"params": {"param_f": "file"}, "content": "SELECT {f:Identifier}('{secret}')"}, "62"
    ),
    "a query id that is somebody's": (
        {"params": {"query_id": "x", "replace_running_query": "1"}, "content": "SELECT 1"}, "164"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REQUESTS)
def test_requests_are_refused(client: httpx.Client, bait: Bait, name: str) -> None:
    asked, code = REQUESTS[name]
    made = {key: filled(value, bait) for key, value in asked.items()}
    reply = client.post("/clickhouse", **made)
    assert (reply.headers.get("X-ClickHouse-Exception-Code"), reply.is_success) == (code, False), reply.text
    assert bait.untouched(reply.text)


def filled(value: Any, bait: Bait) -> Any:
    if isinstance(value, str):
        return bait.into(value)
    if isinstance(value, dict):
        return {name: bait.into(text) for name, text in value.items()}
    return value


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_only_get_and_post_are_methods(client: httpx.Client, method: str) -> None:
    assert client.request(method, "/clickhouse", params={"query": "SELECT 1"}).status_code == 405


def test_a_session_keeps_nothing(client: httpx.Client) -> None:
    """Who names the session of somebody else finds nothing in it."""
    first = client.post("/clickhouse", params={"session_id": "s", "session_timezone": "Asia/Tokyo"}, content=ZONE)
    second = client.post("/clickhouse", params={"session_id": "s"}, content=ZONE)
    assert (first.text, second.text) == ("Asia/Tokyo\n", "UTC\n")


ZONE = "SELECT timezoneOf(now())"


# --- size -----------------------------------------------------------------------------------------------------------

DEEP = 5000
LARGE: dict[str, str] = {
    "parentheses": "SELECT " + "(" * DEEP + "1" + ")" * DEEP,
    "arrays": "SELECT " + "[" * DEEP + "1" + "]" * DEEP,
    "negations": "SELECT " + "NOT " * DEEP + "1",
    "subqueries": "SELECT " + "(SELECT " * DEEP + "1" + ")" * DEEP,
    "sums": "SELECT 1" + "+1" * 20_000,
    "casts": "SELECT 1" + "::String" * DEEP,
    "cases": "SELECT " + "CASE WHEN 1 THEN " * DEEP + "1" + " END" * DEEP,
    "types": "SELECT CAST([] AS " + "Array(" * DEEP + "Int8" + ")" * DEEP + ")",
    "calls": "SELECT " + "toString(" * 1200 + "1" + ")" * 1200,
    "CTEs of CTEs": "WITH t0 AS (SELECT 1) "
    + "".join(f", t{n} AS (SELECT * FROM t{n - 1})" for n in range(1, 300))
    + " SELECT * FROM t299",
    "doubled aliases": "WITH 1 AS a0 "
    + "".join(f", (a{n - 1}, a{n - 1}) AS a{n}" for n in range(1, 40))
    + " SELECT a39",
    "endless recursion": "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n FROM r) SELECT count() FROM r",
    "a letter too many": "SELECT '" + "x" * (256 << 10) + "'",
    "an array": "SELECT arrayWithConstant(1000000000, 'x')",
    "a text": "SELECT repeat('x', 1000000000)",
    "a padded text": "SELECT leftPad('x', 1000000000)",
    "a printed text": "SELECT printf('%1000000000d', 1)",
    "gaps filled": "SELECT number FROM numbers(1) ORDER BY number WITH FILL TO 1000000000000",
    "steps of nothing": "SELECT * FROM generate_series(1, 100, 0)",
    "places on the earth": "SELECT geohashesInBox(-180., -90., 180., 90., 12)",
    "an aggregate's memory": "SELECT topK(1000000)(number) FROM numbers(10)",
    "a far place of an array": "SELECT groupArrayInsertAt(0, 1000000000)(number, 999999999) FROM numbers(10)",
}


@pytest.mark.parametrize("name", LARGE)
def test_what_is_too_large_is_an_error_and_the_next_is_answered(capped: httpx.Client, name: str) -> None:
    reply = capped.post("/clickhouse", content=LARGE[name])
    assert not reply.is_success
    assert reply.headers["X-ClickHouse-Exception-Code"].isdecimal()
    assert capped.post("/clickhouse", content="SELECT 1").text == "1\n"
