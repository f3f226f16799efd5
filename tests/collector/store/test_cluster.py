"""The layout for a cluster: rendered from the same files, parsed by the engine, and laid out with stand-ins.

The embedded engine knows no cluster and no keeper, so nothing is replicated here. What can be shown is that every
statement parses, that names fit together, and that the views over the spread tables say what the plain ones say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chdb
import pytest

from collector.errors import UsageError
from collector.store.client import Target
from collector.store.engine import ON_ONE_SHARD, SHARDED, render
from collector.store.retention import TABLES
from collector.store.sqlfiles import SqlFile, schema_files, view_files

FILES = [*schema_files(), *view_files()]
EVERY = pytest.mark.parametrize("file", [pytest.param(file, id=file.name) for file in FILES])
# What the sharding key must be a part of: two versions of a row must never lie on two shards.
TELEMETRY = {"spans": "trace_id", "logs": "unit", "joins": "join_key"}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    opened = chdb.connect(str(tmp_path_factory.mktemp("engine") / "chdb"))
    opened.query("CREATE DATABASE passhat")
    opened.query("USE passhat")
    yield opened
    opened.close()


def test_without_a_cluster_nothing_changes() -> None:
    for file in FILES:
        assert render(file.statement, cluster=None) == [file.statement]


@EVERY
def test_every_statement_for_a_cluster_parses(engine: Any, file: SqlFile) -> None:
    for made in render(file.statement, cluster="agents"):
        told = engine.query(f"EXPLAIN AST {made}", "TSVRaw").bytes().decode()
        assert "Create" in told.splitlines()[0]
        assert "ON CLUSTER 'agents'" in made


@EVERY
def test_tables_are_replicated_and_spread(file: SqlFile) -> None:
    if file.kind != "TABLE":
        return
    local, over = render(file.statement, cluster="agents")
    assert f"CREATE TABLE IF NOT EXISTS {file.object}_local ON CLUSTER 'agents'" in local
    assert re.search(
        r"ENGINE = Replicated\w*MergeTree\('/clickhouse/tables/\{database\}/\{table\}/\{shard\}', '\{replica\}'", local
    )
    shard = SHARDED.get(file.object, ON_ONE_SHARD)
    assert over.endswith(f"ENGINE = Distributed('agents', currentDatabase(), '{file.object}_local', {shard})")
    arguments = re.search(r"ENGINE = \w+\((\w+)\)", file.statement)
    assert arguments is None or f", {arguments[1]})" in local, "the version column stays"
    assert local.count("MergeTree") == 1


@pytest.mark.parametrize(("table", "column"), TELEMETRY.items())
def test_all_versions_of_a_row_meet_on_one_shard(table: str, column: str) -> None:
    assert SHARDED[table] == f"cityHash64({column})"
    (file,) = [file for file in FILES if file.object == table]
    key = re.search(r"ORDER BY \(([^)]*)\)", file.statement)
    assert key is not None
    assert column in key[1].split(", ")


def test_feeds_run_where_a_row_was_inserted() -> None:
    feeds = [file for file in FILES if file.kind == "MATERIALIZED VIEW"]
    assert len(feeds) >= 6
    for file in feeds:
        (made,) = render(file.statement, cluster="agents")
        assert re.search(r" TO \w+_local AS", made)
        sources = re.findall(r"\bFROM (\w+)", made)
        assert sources
        assert all(source.endswith("_local") for source in sources), made


def test_changes_are_made_where_rows_lie() -> None:
    assert render("ALTER TABLE `spans` MODIFY TTL x", cluster="c") == [
        "ALTER TABLE spans_local ON CLUSTER 'c' MODIFY TTL x"
    ]
    assert render("DROP TABLE IF EXISTS `trials`", cluster="c") == ["DROP TABLE IF EXISTS trials ON CLUSTER 'c' SYNC"]
    for table in TABLES:
        assert f"{table}_local" in render(f"ALTER TABLE `{table}` REMOVE TTL", cluster="c")[0]


def test_an_embedded_store_is_on_no_cluster(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="on no cluster"):
        Target("chdb:", tmp_path, "agents")
    assert Target("clickhouse://h:9/d", tmp_path, "agents").cluster == "agents"


def stand_in(made: str) -> str:
    """One shard without a keeper: local tables are not replicated, and `Merge` reads them where Distributed would."""
    made = made.replace(" ON CLUSTER 'agents'", "")
    made = re.sub(r"Replicated(\w*MergeTree)\('[^']*', '[^']*'(?:, )?([^()]*)\)", r"\1(\2)", made)
    return re.sub(
        r"Distributed\('agents', currentDatabase\(\), '(\w+)', .*\)$", r"Merge(currentDatabase(), '^\1$')", made
    )


def test_views_over_spread_tables_say_what_was_inserted(engine: Any) -> None:
    for file in FILES:
        for made in render(file.statement, cluster="agents"):
            engine.query(stand_in(made))
    engine.query("""INSERT INTO runs_local
        (project, run_id, version, alive, task_id, task_version, basis, result, hour, ended, started, units)
        SELECT 'p', toString(number), 1, true, 't', '1', 'outcome',
        if(number < 6, 'pass', 'fail'), '2026-06-01 10:00:00', '2026-06-01 10:30:00', '2026-06-01 10:29:00', ['u']
        FROM numbers(10)""")
    said = engine.query("SELECT count(), countIf(result = 'pass') FROM trials", "TSV").bytes().decode()
    assert said == "10\t6\n"
    fed = engine.query("SELECT count() FROM run_hours FINAL WHERE alive", "TSV").bytes().decode()
    assert fed == "10\n", "the feed of the local table fills the local table"
    window = "start = '2026-06-01 10:15:00', end = '2026-06-01 10:45:00', k = 3"
    rates = engine.query(f"SELECT n, c, round(pass_hat_k, 4) FROM task_reliability({window})", "TSV").bytes().decode()
    assert rates == "10\t6\t0.1667\n"
