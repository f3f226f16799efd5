"""The guard against a list of attacks, and against every function the engine has; and that people are let through."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import chdb
import httpx
import pytest

from collector.config.keys import SqlConfig
from collector.serve.clickhouse.allowed import HARMLESS_NAMES, TABLE_FUNCTIONS, Allowed
from collector.serve.clickhouse.guard import KEYWORDS, check
from collector.serve.clickhouse.refusals import SqlError
from collector.serve.clickhouse.settings import settings_of
from collector.store.guests import EmbeddedGuests, EngineRefused, Guest
from collector.store.sqlfiles import view_files
from collector.store.store import Store
from tests.collector.serve.clickhouse.conftest import Bait
from tests.collector.serve.clickhouse.statements import statements
from tests.house import sql_functions

# Refused, not tried: access, read-only, syntax, parameter, format. Anything else would mean that it ran.
REFUSED = {"497", "164", "62", "457", "73"}


@pytest.fixture(scope="module")
def guest(store: Store) -> Iterator[Guest]:
    with EmbeddedGuests(store.target).handle(settings_of([], SqlConfig())) as opened:
        yield opened


@pytest.fixture(scope="module")
def allowed(guest: Guest) -> Allowed:
    return Allowed.read(guest, "passhat")


def refusal(guest: Guest, allowed: Allowed, sql: str) -> str:
    """The code a statement is refused with; '' when it may run."""
    try:
        check(guest, allowed, sql, {})
    except SqlError as error:
        return str(error.code)
    except EngineRefused as error:
        return str(SqlError.of_engine(str(error)).code)
    return ""


@pytest.mark.parametrize("sql", statements("attacks.sql"))
def test_attacks_are_refused_before_they_run(client: httpx.Client, bait: Bait, sql: str) -> None:
    reply = client.post("/clickhouse", content=bait.into(sql))
    assert reply.status_code >= 400, reply.text
    assert reply.headers["X-ClickHouse-Exception-Code"] in REFUSED, reply.text
    assert bait.untouched(reply.text)


@pytest.mark.parametrize("sql", statements("attacks.sql"))
def test_attacks_by_get_are_refused_too(client: httpx.Client, bait: Bait, sql: str) -> None:
    reply = client.get("/clickhouse", params={"query": bait.into(sql)})
    assert reply.status_code >= 400
    assert bait.untouched(reply.text)


def test_there_are_attacks_enough() -> None:
    assert len(statements("attacks.sql")) >= 250
    assert len(statements("legitimate.sql")) >= 75


@pytest.mark.parametrize("sql", statements("legitimate.sql"))
def test_what_people_and_tools_send_is_answered(client: httpx.Client, sql: str) -> None:
    reply = client.post("/clickhouse", content=sql)
    assert reply.status_code == 200, reply.text


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT file('{secret}')",
        "SELECT arrayMap(file, ['{secret}'])",
        "SELECT * APPLY(file) FROM (SELECT '{secret}')",
        "SELECT * FROM (SELECT 'x' AS a) WHERE file('{secret}') = '" + "the-secret-in-the-file" + "'",
    ],
)
def test_read_only_alone_is_no_wall(store: Store, bait: Bait, sql: str) -> None:
    """Were these refused by the engine, the tests above would show nothing about the guard."""
    with EmbeddedGuests(store.target).handle(settings_of([], SqlConfig())) as guest:
        assert guest.query(bait.into(sql), "TSV", {}).strip()


def test_describe_of_an_address_asks_it_without_the_guard(store: Store, bait: Bait) -> None:
    with EmbeddedGuests(store.target).handle(settings_of([], SqlConfig())) as guest:
        guest.query(bait.into("DESCRIBE TABLE url('{url}', 'LineAsString')"), "TSV", {})
        with pytest.raises(EngineRefused):
            guest.query(bait.into("SELECT * FROM url('{url}/x', 'CSV')"), "TSV", {})
    bait.asked.clear()


WRAPPERS = (
    "SELECT {name}('x')",
    "SELECT `{name}`('x')",
    "SELECT arrayMap({name}, ['x'])",
    "SELECT arrayMap(x -> {name}(x), ['x'])",
    "SELECT * APPLY({name}) FROM (SELECT 'x')",
    "SELECT * APPLY(x -> {name}(x)) FROM (SELECT 'x')",
    "SELECT 1 WHERE {name}('x') != ''",
    "WITH x AS (SELECT {name}('x')) SELECT * FROM x",
    "SHOW TABLES WHERE {name}('x') = ''",
)
SOURCES = (
    "SELECT * FROM {name}('x')",
    "SELECT * FROM `{name}`('x')",
    "DESCRIBE TABLE {name}('x')",
    "SELECT 1 IN {name}('x')",
)


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_every_function_that_is_not_listed_is_refused(guest: Guest, allowed: Allowed, wrapper: str) -> None:
    called = not wrapper.count("({name}")  # by name alone, the harmless ones are columns
    names = guest.query("SELECT name FROM system.functions", "TSV", {}).decode().split()
    unlisted = [name for name in names if not allowed.function(name) and (called or name.lower() not in HARMLESS_NAMES)]
    assert len(unlisted) > 150
    assert [name for name in unlisted if not refusal(guest, allowed, wrapper.format(name=name))] == []


@pytest.mark.parametrize(
    "wrapper",
    [
        "SELECT * FROM {name}('x')",
        "SELECT * FROM `{name}`('x')",
        "DESCRIBE TABLE {name}('x')",
        "SELECT 1 IN {name}('x')",
    ],
)
def test_every_table_function_but_a_few_is_refused(guest: Guest, allowed: Allowed, wrapper: str) -> None:
    names = guest.query("SELECT name FROM system.table_functions", "TSV", {}).decode().split()
    dangerous = [name for name in names if name.lower() not in TABLE_FUNCTIONS]
    assert len(dangerous) > 70
    assert [name for name in dangerous if not refusal(guest, allowed, wrapper.format(name=name))] == []


def test_every_system_table_but_a_few_is_refused(guest: Guest, allowed: Allowed) -> None:
    names = guest.query("SELECT name FROM system.tables WHERE database = 'system'", "TSV", {}).decode().split()
    readable = {name for name in names if not refusal(guest, allowed, f"SELECT 1 FROM system.{name}")}
    assert readable == {"tables", "columns", "databases", "functions", "settings", "one", "numbers"}
    for name in readable:
        assert refusal(guest, allowed, f"SELECT 1 FROM default.{name}") == "497"


def test_every_setting_but_a_few_is_refused(store: Store) -> None:
    names = [name for (name,) in store.query("SELECT name FROM system.settings").rows]
    assert len(names) > 1000
    tried = [name for name in names if may_be_chosen(name)]
    for word in ("file", "schema", "path", "url", "dialect", "filter", "cache", "insert", "allow", "log_query"):
        assert [name for name in tried if word in name] == []
    assert len(tried) < 70


def may_be_chosen(name: str) -> bool:
    try:
        settings_of([(name, "1")], SqlConfig())
    except SqlError:
        return False
    return True


def test_no_word_of_the_grammar_is_a_function_that_is_refused(allowed: Allowed) -> None:
    assert [word for word in KEYWORDS if word.lower() in allowed.refused] == []


def test_no_column_of_ours_is_named_like_a_function_that_is_refused(store: Store, allowed: Allowed) -> None:
    columns = {name for (name,) in store.query("SELECT name FROM system.columns WHERE database = 'passhat'").rows}
    assert columns & allowed.refused == set()
    assert {file.object.lower() for file in view_files()} & allowed.refused == set()


def test_no_view_of_ours_is_named_like_a_table_function(store: Store) -> None:
    names = {name.lower() for (name,) in store.query("SELECT name FROM system.table_functions").rows}
    assert {file.object.lower() for file in view_files()} & names == set()


def test_no_listed_function_is_a_table_function(store: Store, allowed: Allowed) -> None:
    names = {name.lower() for (name,) in store.query("SELECT name FROM system.table_functions").rows}
    assert allowed.functions & names == set()


def test_the_list_of_functions_is_made_by_its_rules(guest: Guest) -> None:
    made = sql_functions.page(lambda sql: guest.query(sql, "TSV", {}).decode())
    assert made == sql_functions.PAGE.read_text(), (
        "the engine has other functions now: python -m tests.house.sql_functions, and read the difference"
    )


def test_what_is_looked_at_is_what_runs(guest: Guest, allowed: Allowed) -> None:
    checked = check(guest, allowed, "select 1 /* x */ as a , 'it''s' format JSON settings max_execution_time = 3;", {})
    assert checked.sql == "SELECT 1 AS a, 'it\\'s'"
    assert checked.format == "JSON"
    assert checked.settings == (("max_execution_time", "3"),)


def test_the_engine_the_tests_run_on_is_current(guest: Guest) -> None:
    assert Path(chdb.__file__).exists()
    assert guest.query("SELECT version()", "TSV", {}).decode().startswith("26.")
