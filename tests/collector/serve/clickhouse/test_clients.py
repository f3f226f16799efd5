"""Real clients against the endpoint: clickhouse-connect over HTTP, and ClickHouse's JavaScript client from npm."""

from __future__ import annotations

import datetime as dt
import decimal
import json
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import clickhouse_connect
import httpx
import pytest
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import DatabaseError

from collector.store.store import Store

TYPES = """
    SELECT
        toInt8(-1) AS i8, toUInt64(18446744073709551615) AS u64, toInt128(-1) AS i128, 1.5 AS f, true AS b, 'text' AS s,
        toFixedString('ab', 2) AS fixed, toLowCardinality('low') AS low, NULL::Nullable(Int32) AS n,
        toDecimal64('1.25', 2) AS d, toUUID('61f0c404-5cb3-11e7-907b-a6006ad3dba0') AS u,
        toDate('2026-01-02') AS day, toDateTime('2026-01-02 03:04:05', 'UTC') AS at,
        toDateTime64('2026-01-02 03:04:05.678901234', 9, 'UTC') AS exact,
        [1, 2, 3] AS a, ['x', NULL] AS an, map('k', 'v') AS m, (1, 'x') AS t,
        CAST('a', 'Enum8(\\'a\\' = 1, \\'b\\' = 2)') AS e, toIPv4('127.0.0.1') AS ip, inf AS infinite
"""


@pytest.fixture(scope="module")
def connected(client: httpx.Client) -> Iterator[Client]:
    opened = clickhouse_connect.get_client(
        host="127.0.0.1", port=client.base_url.port, proxy_path="/clickhouse", tz_mode="aware"
    )
    yield opened
    opened.close()


def test_clickhouse_connect_reads_every_type(connected: Client) -> None:
    (row,) = connected.query(TYPES).named_results()
    assert row["u64"] == 2**64 - 1
    assert row["i128"] == -1
    assert (row["i8"], row["f"], row["b"], row["s"], row["low"], row["n"]) == (-1, 1.5, True, "text", "low", None)
    assert row["d"] == decimal.Decimal("1.25")
    assert row["u"] == uuid.UUID("61f0c404-5cb3-11e7-907b-a6006ad3dba0")
    assert row["day"] == dt.date(2026, 1, 2)
    assert row["at"] == dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)
    assert row["exact"].replace(microsecond=0) == row["at"]
    assert (row["a"], row["an"], row["m"], row["t"], row["e"]) == ([1, 2, 3], ["x", None], {"k": "v"}, (1, "x"), "a")
    assert str(row["ip"]) == "127.0.0.1"


def test_clickhouse_connect_reads_the_same_as_in_process(connected: Client, store: Store) -> None:
    for sql in (TYPES, "SELECT * FROM slo_burn", "SELECT number, number * 2 FROM numbers(1000)"):
        over, within = connected.query(sql), store.query(sql)
        assert tuple(over.column_names) == within.columns
        assert [str(row) for row in over.result_rows] == [str(row) for row in within.rows]


def test_clickhouse_connect_binds_parameters(connected: Client) -> None:
    awkward = "it's\ta \\ tab\nand 'quotes'"
    sql = "SELECT {s:String}, {a:Array(String)}, {d:DateTime64(3, 'UTC')}, {n:Nullable(Int32)}"
    at = dt.datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=dt.UTC)
    (row,) = connected.query(sql, parameters={"s": awkward, "a": [awkward, "x"], "d": at, "n": None}).result_rows
    assert row == (awkward, [awkward, "x"], at, None)
    (bound,) = connected.query("SELECT %(s)s", parameters={"s": awkward}).result_rows
    assert bound == (awkward,)


def test_clickhouse_connect_streams_and_raises_typed_errors(connected: Client) -> None:
    with connected.query_row_block_stream("SELECT number FROM numbers(200000)") as stream:
        assert sum(len(block) for block in stream) == 200_000
    with pytest.raises(DatabaseError, match="Code: 497"):
        connected.query("SELECT file('/etc/hostname')")
    with pytest.raises(DatabaseError, match="Code: 164"):
        connected.command("DROP TABLE runs")
    assert connected.command("SELECT 1") == 1
    assert connected.ping()


def test_clickhouse_connect_reads_arrow(connected: Client) -> None:
    table = connected.query_arrow("SELECT number AS n FROM numbers(3)")
    assert table.column("n").to_pylist() == [0, 1, 2]


@pytest.fixture(scope="session")
def javascript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the client in it; npm keeps it in its own cache between runs."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("there is no node and npm here")
    folder = tmp_path_factory.mktemp("javascript")
    (folder / "package.json").write_text(
        json.dumps({"private": True, "dependencies": {"@clickhouse/client": "^1.12.0"}})
    )
    try:
        done = subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund", "--prefer-offline", "--fetch-retries=0"],
            cwd=folder, capture_output=True, text=True, timeout=90,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        pytest.skip("npm does not reach its registry")
    if done.returncode:
        pytest.skip(f"npm does not reach its registry: {done.stderr.strip().splitlines()[-1:]}")
    return folder


def test_the_javascript_client(client: httpx.Client, javascript: Path) -> None:
    shutil.copy(Path(__file__).with_name("ask.js"), javascript)
    done = subprocess.run(
        ["node", "ask.js", str(client.base_url)], cwd=javascript, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    assert said["ping"]["success"] is True
    assert said["rows"] == [{"n": n, "s": str(n)} for n in range(3)]
    assert said["bound"] == [{"a": "it's\ta \\ tab", "b": [1, 2], "d": "2026-01-02 03:04:05"}]
    assert said["meta"] == [{"name": "one", "type": "UInt8"}]
    assert said["streamed"] == 100_000
    assert said["error"] == {"code": "497", "type": "ACCESS_DENIED"}
    assert said["insert"] == {"code": "164", "type": "READONLY"}
