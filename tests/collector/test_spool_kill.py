"""The spool is killed at every statement it gives to SQLite: what was acknowledged is there, once and whole."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from collector.spool import Spool

CHILD = """
import os, signal, sys, threading
from pathlib import Path
from collector.spool import Spool

folder, moment, statement, count = Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
spool = Spool(folder, min_free_bytes=0)

class Killing:
    # passes everything on to the writer's connection, and dies before or after the n-th such statement
    def __init__(self, connection): self._connection, self._left = connection, count
    def _pass(self, name, sql, *rest):
        hit = statement in sql
        self._left -= hit
        if hit and not self._left and moment == "before": os.kill(os.getpid(), signal.SIGKILL)
        result = getattr(self._connection, name)(sql, *rest)
        if hit and not self._left and moment == "after": os.kill(os.getpid(), signal.SIGKILL)
        return result
    def execute(self, *rest): return self._pass("execute", *rest)
    def executemany(self, *rest): return self._pass("executemany", *rest)
    def executescript(self, *rest): return self._pass("executescript", *rest)
    def close(self): self._connection.close()

spool._journal._writer = Killing(spool._journal._writer)
def send(name):
    for i in range(100_000):
        payload = b"%d-%d" % (name, i)
        seq = spool.append("p", "traces", payload + os.urandom(3000), 0).result()
        os.write(1, b"%d %s\\n" % (seq, payload))
        if i % 10 == 9:
            spool.discard(seq - 20)
            os.write(1, b"%d discarded\\n" % (seq - 20))
for name in range(3): threading.Thread(target=send, args=(name,)).start()
"""
STATEMENTS = {
    "BEGIN": 40,
    "INSERT": 40,
    "COMMIT": 60,
    "DELETE": 5,
    "UPDATE meta": 5,
    "wal_checkpoint(PASSIVE)": 1,
}


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("statement", STATEMENTS)
def test_killed_at_a_statement(tmp_path: Path, statement: str, moment: str) -> None:
    acknowledged: dict[int, str] = {}
    discarded = 0
    for turn in range(3):
        command = [sys.executable, "-c", CHILD, str(tmp_path), moment, statement, str(STATEMENTS[statement] + turn)]
        ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=60, check=False)
        assert ran.returncode == -signal.SIGKILL
        for line in ran.stdout[: ran.stdout.rfind("\n") + 1].splitlines():
            seq, _, what = line.partition(" ")
            if what == "discarded":
                discarded = max(discarded, int(seq))
            else:
                assert int(seq) not in acknowledged
                acknowledged[int(seq)] = what
        spool = Spool(tmp_path, min_free_bytes=0)
        try:
            found = spool.read(0, max_entries=10**6, max_bytes=1 << 40)
            assert not (tmp_path / "quarantine").exists()
        finally:
            spool.close()
        stored = {e.seq: e.payload[:-3000].decode() for e in found}
        assert len(stored) == len(found)
        expected = {seq: what for seq, what in acknowledged.items() if seq > discarded}
        assert {seq: stored.get(seq) for seq in expected} == expected
    assert len(acknowledged) > 20


def test_the_kills_hit_every_kind_of_statement_the_writer_gives() -> None:
    import inspect

    from collector import journal

    source = inspect.getsource(journal.Journal)
    written = [line for line in source.splitlines() if "self._writer.execute" in line]
    known = (*STATEMENTS, "SELECT", "ROLLBACK", "PRAGMA freelist", "incremental_vacuum", "TRUNCATE", "_SCHEMA")
    for line in written:
        following = source.splitlines()[source.splitlines().index(line) + 1]
        assert any(word in line + following for word in known), line
