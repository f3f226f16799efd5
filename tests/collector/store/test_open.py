"""Opening a store: who may, what is created, what a crash in the middle leaves, what a URL says."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from collector.errors import BadStatement, StoreError, UsageError
from collector.store import migrate as migrating
from collector.store.client import Connections, Target
from collector.store.lock import StoreLock
from collector.store.sqlfiles import SqlFile, queries_root, schema_files, view_files
from collector.store.store import Store
from tests.support.stores import ROOT, Front, Place, batch, graded, row, span, trace

HOLD = """
import sys, time
from pathlib import Path
from collector.store.lock import StoreLock
lock = StoreLock(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""
WRITE = """
import os, signal, sys
from pathlib import Path
from collector.store.store import Store
from tests.support.stores import Place, batch, graded, row, span, trace
store = Store.open(Place(f"chdb:{sys.argv[1]}"), Path(sys.argv[1]))
store.insert(batch(*(row(span(trace(n), 1)) for n in range(1, 4))))
store.write_gradings([graded("r")])
os.kill(os.getpid(), signal.SIGKILL)
"""


def python(code: str, *arguments: str) -> subprocess.Popen[str]:
    """A process of ours that runs `code`."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def test_a_store_that_another_process_holds_says_which(tmp_path: Path) -> None:
    with python(HOLD, str(tmp_path / "store.lock")) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(StoreError, match=f"is open in process {holder.pid}") as told:
            Store.open(Place(f"chdb:{tmp_path}"), tmp_path)
        assert "running server" in told.value.hint
        holder.stdin.close()
    Store.open(Place(f"chdb:{tmp_path}"), tmp_path).close()


def test_a_lock_ends_with_its_process_however_it_ends(tmp_path: Path) -> None:
    with python(HOLD, str(tmp_path / "lock")) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        holder.kill()
        holder.wait()
        with StoreLock(tmp_path / "lock"):
            assert (tmp_path / "lock").read_text() == f"{os.getpid()}\n"
    with StoreLock(tmp_path / "lock"), pytest.raises(StoreError, match=f"process {os.getpid()}"):
        StoreLock(tmp_path / "lock")


def test_what_was_written_survives_sigkill(tmp_path: Path) -> None:
    with python(WRITE, str(tmp_path)) as writer:
        assert writer.wait(60) == -9
    store = Store.open(Place(f"chdb:{tmp_path}"), tmp_path)
    try:
        assert len(store.read_units([("default", trace(2))])["default", trace(2)].facts) == 1
        assert store.query("SELECT run_id, result FROM trials").rows == [("r", "pass")]
        assert store.query("SELECT sum(c) FROM reliability_cells(start='2026-01-01', end='2027-01-01')").rows == [(1,)]
    finally:
        store.close()


def test_a_folder_that_cannot_be_written_is_said_and_a_query_of_ours_is_not_called_away(tmp_path: Path) -> None:
    store = Store.open(Place(f"chdb:{tmp_path}"), tmp_path)
    try:
        (tmp_path / "inserting").rmdir()  # as a full disk or a read-only one: the rows cannot be handed over
        with pytest.raises(StoreError, match="cannot be written") as away:
            store.insert(batch(row(span(trace(1), 1))))
        assert not isinstance(away.value, BadStatement)
        for wrong in ("SELECT nothing_of_this_name", "SELEC 1", "SELECT {k:UInt32}", "SELECT 1 FROM nowhere"):
            with pytest.raises(BadStatement):
                store.query(wrong)
    finally:
        store.close()


def test_no_data_is_left_behind_where_nobody_looks(tmp_path: Path) -> None:
    left = tmp_path / "inserting" / "7.arrow"
    left.parent.mkdir()
    left.write_text("of a process that was killed")
    store = Store.open(Place(f"chdb:{tmp_path}"), tmp_path)
    store.insert(batch(row(span(trace(1), 1))))
    assert list(left.parent.iterdir()) == []
    store.close()
    assert {path.name for path in tmp_path.iterdir()} == {"chdb", "inserting", "store.lock"}
    assert left.parent.stat().st_mode & 0o077 == 0


def test_a_store_opens_again_with_everything(open_store: Callable[[], Store]) -> None:
    store = open_store()
    store.insert(batch(row(span(trace(1), 1))))
    store.write_gradings([graded("r")])
    store.set_policy(errors="fail")
    store.close()
    again = open_store()
    assert again.counts()["spans"] == 1
    assert again.query("SELECT run_id FROM trials").rows == [("r",)]
    assert again.query("SELECT passHatK(5, 3, 3)").rows == [(0.1,)]
    assert again.policy() == {"errors": "fail"}


@pytest.mark.parametrize("after", [0, 1, 5, len(schema_files()), len(schema_files()) + 3])
def test_a_crash_in_the_middle_of_creating_is_mended_by_opening(
    open_store: Callable[[], Store], place: Place, tmp_path: Path, after: int
) -> None:
    """Dies after so many statements, before they are recorded or at any other."""
    left = [after]

    def crashing(statement: str) -> list[str]:
        left[0] -= 1
        if left[0] < 0:
            raise RuntimeError("killed")
        return [statement]

    connections = Connections(Target(place.url, tmp_path / "data"))
    with connections.writer() as client, pytest.raises(RuntimeError):
        migrating.migrate(client, crashing)
    connections.close()
    store = open_store()
    store.write_gradings([graded("r")])
    assert store.query("SELECT run_id FROM trials").rows == [("r",)]


def test_a_migration_that_changed_after_it_ran_is_refused(
    open_store: Callable[[], Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    open_store().close()
    changed = [SqlFile(file.name, file.text + "\n-- one word more") for file in schema_files()]
    monkeypatch.setattr(migrating, "schema_files", lambda: changed)
    with pytest.raises(StoreError, match=r"0001_schema_migrations\.sql changed after this store had run it"):
        open_store()


def test_a_store_of_a_newer_version_is_refused(
    open_store: Callable[[], Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    open_store().close()
    fewer = schema_files()[:-1]
    monkeypatch.setattr(migrating, "schema_files", lambda: fewer)
    with pytest.raises(StoreError, match="written by a newer passhat"):
        open_store()


def test_views_follow_their_text_and_vanish_with_it(
    open_store: Callable[[], Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    files = view_files()
    extra = SqlFile(
        "views/extra.sql", "-- extra\nCREATE OR REPLACE VIEW extra AS SELECT twice(number) AS n FROM numbers(3)"
    )
    twice = SqlFile("views/twice.sql", "-- twice\nCREATE OR REPLACE FUNCTION twice AS (n) -> n * 2")
    monkeypatch.setattr(migrating, "view_files", lambda: [*files, twice, extra])
    store = open_store()
    assert store.query("SELECT sum(n) FROM extra").rows == [(6,)]
    store.close()
    thrice = SqlFile("views/twice.sql", "-- twice\nCREATE OR REPLACE FUNCTION twice AS (n) -> n * 3")
    monkeypatch.setattr(migrating, "view_files", lambda: [*files, thrice, extra])
    store = open_store()
    assert store.query("SELECT sum(n) FROM extra").rows == [(9,)]  # the view's own text did not change
    store.close()
    monkeypatch.setattr(migrating, "view_files", lambda: files)
    store = open_store()
    with pytest.raises(StoreError, match="extra"):
        store.query("SELECT * FROM extra")
    store.close()


def test_an_unreachable_server_is_said_plainly_and_without_the_password(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as told:
        Store.open(Place("clickhouse://someone:secret@127.0.0.1:9/passhat"), tmp_path)
    assert "127.0.0.1:9/passhat" in str(told.value)
    assert "secret" not in str(told.value) + told.value.hint


def test_a_server_that_wants_a_password(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> None:
    front = Front(tmp_path_factory.mktemp("front") / "engine", password="p@ss/word")
    try:
        with pytest.raises(StoreError, match="Authentication failed"):
            Store.open(Place(f"clickhouse://default:wrong@127.0.0.1:{front.port}/x"), tmp_path)
        url = f"clickhouse://default:p%40ss%2Fword@127.0.0.1:{front.port}/my%20base"
        store = Store.open(Place(url), tmp_path)
        assert store.query("SELECT currentDatabase()").rows == [("my base",)]
        assert store.name == f"127.0.0.1:{front.port}/my base"
        store.close()
    finally:
        front.stop()


def test_what_urls_mean(tmp_path: Path) -> None:
    assert Target(f"chdb:{tmp_path}/x", Path("data")).path == tmp_path / "x"
    assert Target(f"chdb:{tmp_path}?mark_cache_size=1", Path("data")).options["mark_cache_size"] == "1"
    secure = Target("clickhouse://u@db.example/?secure=true&max_threads=2", tmp_path)
    assert (secure.server["interface"], secure.server["port"], secure.database) == ("https", 8443, "passhat")
    assert secure.options == {"max_threads": "2"}
    plain = Target("http://db.example/other", tmp_path)
    assert (plain.server["interface"], plain.server["port"], plain.database) == ("http", 8123, "other")
    with pytest.raises(UsageError, match="unknown scheme"):
        Target("postgres://x", tmp_path)


def test_the_engine_is_capped(tmp_path: Path) -> None:
    store = Store.open(Place(f"chdb:{tmp_path}"), tmp_path)
    try:
        ((cap,),) = store.query(
            "SELECT toUInt64(value) FROM system.server_settings WHERE name = 'max_server_memory_usage'"
        ).rows
        assert 0 < cap < os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 0.5
    finally:
        store.close()


def test_readers_cannot_write(store: Store) -> None:
    for statement in (
        "INSERT INTO policy (name, value) VALUES ('a', 'b')",
        "DROP TABLE spans",
        "CREATE TABLE x (a Int8) ENGINE = Memory",
    ):
        with pytest.raises(StoreError, match="readonly"):
            store.query(statement)


@pytest.mark.parametrize("file", [*schema_files(), *view_files()], ids=lambda file: file.name)
def test_every_object_has_a_file_with_a_header(file: SqlFile) -> None:
    stem = Path(file.name).stem
    assert file.object == (stem.partition("_")[2] if file.name.startswith("schema/") else stem)
    assert file.header
    assert file.statement.count(";") == 0
    assert all(len(line) <= 130 for line in file.text.splitlines())


def test_migrations_are_numbered_without_gaps() -> None:
    assert [file.name[7:11] for file in schema_files()] == [f"{n:04d}" for n in range(1, len(schema_files()) + 1)]
    assert queries_root().joinpath("schema").is_dir()


def test_views_come_after_what_they_mention() -> None:
    names = [file.object for file in view_files()]
    assert names.index("counts_between") < names.index("task_reliability") < len(names)
    assert names.index("passHatK") < names.index("passAtK")
    assert names.index("trials") < names.index("disagreements")
