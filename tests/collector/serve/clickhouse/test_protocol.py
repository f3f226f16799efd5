"""The protocol as its clients speak it: framing, formats, errors, compression, parameters, caps, turns."""

from __future__ import annotations

import gzip
import threading
import time

import httpx
import pytest

from collector.store.store import Store
from tests.collector.serve.clickhouse.native import Reader, block
from tests.collector.serve.clickhouse.statements import statements
from tests.collector.serve.made import grading

HANDSHAKE = "SELECT displayName(), version(), revision(), timezone()"
GO = {"default_format": "Native", "client_protocol_version": "54460", "database": "default", "max_execution_time": "65"}
ENDLESS = "SELECT sum(sipHash64(number)) FROM numbers(1000000000000)"


def ask(client: httpx.Client, sql: str, **params: str) -> httpx.Response:
    return client.post("/clickhouse", content=sql, params=params)


# --- framing --------------------------------------------------------------------------------------------------------


def test_the_handshake_is_framed_and_says_revision_0(client: httpx.Client) -> None:
    reply = ask(client, HANDSHAKE, **GO)
    assert reply.content.startswith(b"\x01\x00\x02\xff\xff\xff\xff\x00\x04\x01\rdisplayName()\x06String\x00\x07passhat")
    told = block(reply.content, 54460)
    assert told["revision()"] == ("UInt32", [0])
    assert told["timezone()"] == ("String", ["UTC"])
    assert told["version()"][1] == [ask(client, "SELECT version()").text.strip()]
    assert reply.headers["content-type"] == "application/octet-stream"


def test_what_follows_the_handshake_is_read_at_revision_0(client: httpx.Client) -> None:
    reply = ask(client, "SELECT number AS n, toString(number) AS s, number / 2 AS f FROM numbers(3)", **GO)
    told = block(reply.content, 0)
    assert told == {"n": ("UInt64", [0, 1, 2]), "s": ("String", ["0", "1", "2"]), "f": ("Float64", [0.0, 0.5, 1.0])}


def test_an_older_driver_gets_no_byte_before_a_column(client: httpx.Client) -> None:
    reply = ask(client, HANDSHAKE, default_format="Native", client_protocol_version="54428")
    assert block(reply.content, 54428)["revision()"] == ("UInt32", [0])


def test_a_client_that_frames_nothing_gets_the_same_columns(client: httpx.Client) -> None:
    reply = ask(client, HANDSHAKE.lower().replace("displayname", "displayName"), default_format="JSONEachRow")
    assert reply.json() | {"version()": ""} == {
        "displayName()": "passhat", "version()": "", "revision()": 0, "timezone()": "UTC"
    }  # fmt: skip


@pytest.mark.parametrize("sql", statements("legitimate.sql"))
def test_every_statement_has_an_answer_in_native(client: httpx.Client, sql: str) -> None:
    reply = ask(client, sql.replace(" FORMAT JSONEachRow", ""), default_format="Native")
    assert reply.status_code == 200, reply.text


def test_native_answers_are_block_after_block(client: httpx.Client) -> None:
    data, rows = Reader(ask(client, "SELECT number AS n FROM numbers(200000)", default_format="Native").content), 0
    while data.at < len(data.data):
        assert data.varint() == 1
        size = data.varint()
        assert (data.text(), data.text()) == ("n", "UInt64")
        data.take(8 * size)
        rows += size
    assert rows == 200_000


def test_an_empty_result_in_native_is_an_empty_body(client: httpx.Client) -> None:
    assert ask(client, "SELECT 1 WHERE 0", **GO).content == b""


# --- formats --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "kind", "text"),
    [
        ("JSON", "application/json", '"data"'),
        ("JSONEachRow", "application/x-ndjson", '{"a":1}'),
        ("CSVWithNames", "text/csv", '"a"\n1\n'),
        ("TabSeparated", "text/tab-separated-values", "1\n"),
        ("Pretty", "text/plain", "1"),
    ],
)
def test_formats_have_clickhouses_content_types(client: httpx.Client, form: str, kind: str, text: str) -> None:
    for reply in (ask(client, f"SELECT 1 AS a FORMAT {form}"), ask(client, "SELECT 1 AS a", default_format=form)):
        assert text in reply.text
        assert reply.headers["content-type"].startswith(kind)
        assert reply.headers["X-ClickHouse-Format"] == form
        assert reply.headers["X-Content-Type-Options"] == "nosniff"


def test_the_default_format_is_that_of_clickhouse(client: httpx.Client) -> None:
    reply = ask(client, "SELECT 1, 'a\tb', NULL")
    assert reply.text == "1\ta\\tb\t\\N\n"
    assert reply.headers["X-ClickHouse-Timezone"] == "UTC"


def test_parquet_and_arrow_pass_through(client: httpx.Client) -> None:
    assert ask(client, "SELECT 1 AS a FORMAT Parquet").content[:4] == b"PAR1"
    assert ask(client, "SELECT 1 AS a FORMAT Arrow").content[:6] == b"ARROW1"


@pytest.mark.parametrize("form", ["Template", "Protobuf", "MySQLWire", "Nonsense", "Prometheus"])
def test_other_formats_are_refused(client: httpx.Client, form: str) -> None:
    reply = ask(client, f"SELECT 1 FORMAT {form}")
    assert (reply.status_code, reply.headers["X-ClickHouse-Exception-Code"]) == (404, "73")


def test_choices_of_output_are_heeded(client: httpx.Client) -> None:
    sql = "SELECT toUInt64(1) AS a FORMAT JSONEachRow"
    assert ask(client, sql, output_format_json_quote_64bit_integers="1").text == '{"a":"1"}\n'
    assert ask(client, sql + " SETTINGS output_format_json_quote_64bit_integers = 1").text == '{"a":"1"}\n'
    assert ask(client, sql, output_format_json_quote_64bit_integers="0").text == '{"a":1}\n'


# --- errors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "status", "code", "name"),
    [
        ("SELEC 1", 400, "62", "SYNTAX_ERROR"),
        ("SELECT * FROM nothing", 404, "60", "UNKNOWN_TABLE"),
        ("SELECT nothing FROM runs", 404, "47", "UNKNOWN_IDENTIFIER"),
        ("INSERT INTO runs (project) VALUES ('x')", 403, "164", "READONLY"),
        ("SELECT file('x')", 403, "497", "ACCESS_DENIED"),
        ("SELECT toInt32('x')", 500, "6", "CANNOT_PARSE_TEXT"),
        ("SELECT {p:Int32}", 400, "456", "UNKNOWN_QUERY_PARAMETER"),
        ("", 400, "62", "SYNTAX_ERROR"),
    ],
)
def test_errors_are_typed(client: httpx.Client, sql: str, status: int, code: str, name: str) -> None:
    reply = ask(client, sql)
    assert (reply.status_code, reply.headers["X-ClickHouse-Exception-Code"]) == (status, code), reply.text
    assert reply.text.startswith(f"Code: {code}. DB::Exception: ")
    assert reply.text.count("Code: ") == 1
    assert f"({name})" in reply.text


def test_errors_do_not_show_where_the_store_lies(client: httpx.Client, store: Store) -> None:
    for sql in ("SELECT * FROM nothing", "SELECT toInt32('x')", "SELEC 1"):
        assert str(store.target.path) not in ask(client, sql).text


def test_too_long_a_statement_is_refused(client: httpx.Client) -> None:
    reply = ask(client, f"SELECT '{'x' * (300 << 10)}'")
    assert (reply.status_code, reply.headers["X-ClickHouse-Exception-Code"]) == (413, "168")
    assert ask(client, f"SELECT '{'x' * (2 << 20)}'").status_code == 413


def test_bytes_that_are_no_text_are_refused(client: httpx.Client) -> None:
    reply = client.post("/clickhouse", content=b"SELECT '\xff\xfe'")
    assert (reply.status_code, reply.headers["X-ClickHouse-Exception-Code"]) == (400, "62")


# --- ways to ask ----------------------------------------------------------------------------------------------------


def test_get_and_post_and_paths(client: httpx.Client) -> None:
    assert client.get("/clickhouse", params={"query": "SELECT 1"}).text == "1\n"
    assert client.get("/clickhouse/", params={"query": "SELECT 1"}).text == "1\n"
    assert client.post("/clickhouse/", content="SELECT 1").text == "1\n"
    assert client.post("/clickhouse", params={"query": "SELECT"}, content="1").text == "1\n"
    assert client.get("/clickhouse/ping").text == "Ok.\n"
    assert client.get("/clickhouse").text == "Ok.\n"


def test_parameters(client: httpx.Client) -> None:
    sql = "SELECT {a:String}, {b:Array(String)}, {c:DateTime64(3, 'UTC')}, {d:Nullable(Int64)}"
    values = {"param_a": "it's\\tok", "param_b": "['x','y']", "param_c": "2026-01-02 03:04:05.678", "param_d": "\\N"}
    assert ask(client, sql, **values).text == "it\\'s\\tok\t['x','y']\t2026-01-02 03:04:05.678\t\\N\n"


@pytest.mark.parametrize(
    "value", ["1; DROP TABLE runs", "x') UNION ALL SELECT file('/etc/passwd') --", "1 OR 1", "\\N"]
)
def test_a_parameter_is_a_value_whatever_it_says(client: httpx.Client, value: str) -> None:
    assert ask(client, "SELECT {a:String} = 'x'", param_a=value).text == "0\n" or value == "\\N"
    assert ask(client, "SELECT {a:Int32}", param_a=value).status_code == 400 or value == "\\N"


def test_names_are_no_parameters(client: httpx.Client) -> None:
    for sql in ("SELECT * FROM {t:Identifier}", "SELECT {t: Identifier}", "SELECT {t:identifier} FROM runs"):
        reply = ask(client, sql, param_t="system.processes")
        assert reply.status_code in (400, 403), reply.text
        assert reply.headers["X-ClickHouse-Exception-Code"] in ("497", "62", "50")


def test_parameters_of_our_views(client: httpx.Client) -> None:
    sql = "SELECT count() FROM reliability_cells(start = {s:DateTime64(3)}, end = {e:DateTime64(3)})"
    assert ask(client, sql, param_s="2026-01-01 00:00:00", param_e="2026-01-02 00:00:00").text == "0\n"


def test_a_form_carries_what_is_too_long_for_a_url(client: httpx.Client) -> None:
    fields = {"query": (None, "SELECT length({a:String})"), "param_a": (None, "x" * 100_000)}
    assert client.post("/clickhouse", files=fields).text == "100000\n"


def test_external_data_is_refused(client: httpx.Client) -> None:
    reply = client.post("/clickhouse", params={"query": "SELECT * FROM t"}, files={"t": ("t.csv", b"1")})
    assert reply.headers["X-ClickHouse-Exception-Code"] == "457"


def test_a_token_in_the_url_is_refused(client: httpx.Client) -> None:
    reply = ask(client, "SELECT 1", password="secret")
    assert reply.status_code == 400
    assert "secret" not in reply.text


def test_unknown_settings_are_refused_as_clickhouse_refuses_them_when_read_only(client: httpx.Client) -> None:
    reply = ask(client, "SELECT 1", max_block_size="1")
    assert (reply.status_code, reply.headers["X-ClickHouse-Exception-Code"]) == (403, "164")
    assert "'max_block_size'" in reply.text


# --- compression ----------------------------------------------------------------------------------------------------


def test_answers_are_compressed_for_who_takes_gzip(client: httpx.Client) -> None:
    sql = "SELECT number FROM numbers(10000)"
    with client.stream("POST", "/clickhouse", content=sql, headers={"Accept-Encoding": "gzip"}) as reply:
        raw = b"".join(reply.iter_raw())
    assert reply.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(raw).count(b"\n") == 10000
    for refusing in ("identity", "gzip;q=0", "br"):
        plain = client.post("/clickhouse", content=sql, headers={"Accept-Encoding": refusing})
        assert "Content-Encoding" not in plain.headers
        assert plain.content == gzip.decompress(raw)


def test_statements_may_be_compressed(client: httpx.Client) -> None:
    body = gzip.compress(b"SELECT 1")
    assert client.post("/clickhouse", content=body, headers={"Content-Encoding": "gzip"}).text == "1\n"
    cut = client.post("/clickhouse", content=body[:-4], headers={"Content-Encoding": "gzip"})
    assert (cut.status_code, cut.headers["X-ClickHouse-Exception-Code"]) == (400, "1002")
    bomb = client.post("/clickhouse", content=gzip.compress(b" " * (64 << 20)), headers={"Content-Encoding": "gzip"})
    assert bomb.status_code == 413


def test_blocks_compressed_by_clickhouse_are_not_offered(client: httpx.Client) -> None:
    assert ask(client, "SELECT 1", compress="1").status_code == 400
    assert ask(client, "SELECT 1", compress="0").status_code == 200


# --- caps and turns -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        (ENDLESS, "159"),
        ("SELECT number FROM numbers(1001)", "396"),
        ("SELECT repeat('x', 1000) FROM numbers(500)", "396"),
        ("SELECT repeat('x', 1000) FROM numbers(500) FORMAT Native", "396"),
        ("SELECT materialize(repeat('x', 1000)) FROM numbers(500) FORMAT JSON", "396"),
        ("SELECT length(groupArray(number)) FROM numbers(100000000)", "241"),
        ("SELECT arraySum(range(1000000000))", "69"),
    ],
)
def test_every_statement_is_capped(capped: httpx.Client, sql: str, code: str) -> None:
    reply = ask(capped, sql)
    assert reply.headers.get("X-ClickHouse-Exception-Code") == code, reply.text


@pytest.mark.parametrize("more", ["100", "0", "-1", "1e9", "x"])
def test_no_caller_gets_more_time(capped: httpx.Client, more: str) -> None:
    began = time.monotonic()
    assert ask(capped, ENDLESS, max_execution_time=more).headers["X-ClickHouse-Exception-Code"] == "159"
    assert time.monotonic() - began < 20


def test_a_caller_may_ask_for_less(client: httpx.Client) -> None:
    for reply in (
        ask(client, ENDLESS, max_execution_time="0.2"),
        ask(client, f"{ENDLESS} SETTINGS max_execution_time = 1"),
    ):
        assert reply.headers["X-ClickHouse-Exception-Code"] == "159"
    assert ask(client, "SELECT number FROM numbers(11)", max_result_rows="10").status_code == 500


def test_busy_statements_do_not_hold_up_the_api(capped: httpx.Client) -> None:
    threads = [threading.Thread(target=ask, args=(capped, ENDLESS)) for _ in range(6)]
    for thread in threads:
        thread.start()
    try:
        began = time.monotonic()
        assert capped.get("/readyz").status_code == 200
        assert capped.get("/api/v1/runs").status_code == 200
        assert time.monotonic() - began < 10, "it waited for the statements"
    finally:
        for thread in threads:
            thread.join()
    assert ask(capped, "SELECT 1").text == "1\n"


def test_two_statements_run_side_by_side(capped: httpx.Client) -> None:
    # Each ends at its limit of one second whatever the machine does; a busy one delays both, so the best of five.
    def both() -> float:
        began = time.monotonic()
        threads = [threading.Thread(target=ask, args=(capped, ENDLESS)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return time.monotonic() - began

    assert any(both() < 1.9 for _ in range(5)), "one after the other takes two seconds"


def test_a_caller_who_hangs_up_frees_the_reader(client: httpx.Client, store: Store) -> None:
    with pytest.raises(httpx.ReadTimeout):
        client.post("/clickhouse", content=ENDLESS + " -- left alone", timeout=1.0)
    running = (
        "SELECT count() FROM system.processes WHERE query LIKE '%sipHash64(number)%' AND query NOT LIKE '%processes%'"
    )
    deadline = time.monotonic() + 10
    while store.query(running).rows != [(0,)]:
        assert time.monotonic() < deadline, "it still runs"
        time.sleep(0.05)


def test_statements_are_counted(client: httpx.Client) -> None:
    ask(client, "SELECT 1")
    ask(client, "SELECT file('x')")
    ask(client, "SELEC")
    told = client.get("/metrics").text
    for result in ("answered", "refused", "failed"):
        (line,) = [
            line for line in told.splitlines() if line.startswith(f'passhat_sql_statements_total{{result="{result}"}}')
        ]
        assert float(line.split()[-1]) >= 1


def test_json_of_a_rate_that_is_not_known_is_null(client: httpx.Client) -> None:
    reply = ask(client, "SELECT passHatK(2, 2, 3) AS a, csLow(0, 0, 0.05) AS b FORMAT JSONEachRow")
    assert reply.json() == {"a": None, "b": None}


def test_a_rate_counts_every_run_that_was_written(client: httpx.Client, store: Store) -> None:
    """Counting hours may be put off; a statement must not see runs without their counts."""
    view = "reliability_cells(start = '2026-10-01 00:00:00', end = '2026-12-31 00:00:00')"
    for number in range(1, 10):
        store.write_gradings([grading(f"counted-{number}", "pass", at_s=3600 * number, task_id="counted")])
        reply = ask(client, f"SELECT sum(n) FROM {view} WHERE task_id = 'counted'")
        assert reply.text == f"{number}\n"
