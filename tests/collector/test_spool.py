"""The spool keeps what it acknowledged: over restarts, SIGKILL, full disks and damaged files."""

from __future__ import annotations

import logging
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path

import pytest

from collector.errors import Overloaded, ShuttingDown, SpoolBroken, SpoolFull, StoreError
from collector.journal import folder_in
from collector.quarantine import kept_in
from collector.spool import Spool, SpoolEntry

MIB = 1 << 20


@contextmanager
def spool_in(folder: Path, **options: object) -> Iterator[Spool]:
    spool = Spool(folder, **{"min_free_bytes": 0, "max_bytes": 100 * MIB, **options})  # type: ignore[arg-type]
    try:
        yield spool
    finally:
        spool.close()


def put(spool: Spool, payload: bytes, project: str = "default") -> int:
    return spool.append(project, "traces", payload, 7).result(10)


def read_all(spool: Spool, after_seq: int = 0) -> list[SpoolEntry]:
    return spool.read(after_seq, max_entries=10_000, max_bytes=1 << 40)


def eventually(condition: Callable[[], bool], within_s: float = 10.0) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, "condition did not come true"
        time.sleep(0.01)


def test_a_spool_of_an_earlier_version_is_taken_over_with_all_it_holds(tmp_path: Path) -> None:
    with spool_in(tmp_path / "spool.sqlite") as before:
        put(before, b"kept")
        with pytest.raises(StoreError, match="held by another process"):
            folder_in(tmp_path)
    with spool_in(folder_in(tmp_path)) as spool:
        assert spool.path == tmp_path / "spool"
        assert [entry.payload for entry in read_all(spool)] == [b"kept"]
    assert folder_in(tmp_path) == tmp_path / "spool"
    assert not (tmp_path / "spool.sqlite").exists()


def test_reads_what_was_appended_in_order_and_exactly(tmp_path: Path) -> None:
    with spool_in(tmp_path) as spool:
        first = put(spool, b"one", "a")
        second = spool.append("b", "logs", b"", 9).result(10)
        assert read_all(spool) == [
            SpoolEntry(first, "a", "traces", 7, b"one"),
            SpoolEntry(second, "b", "logs", 9, b""),
        ]
        assert read_all(spool, first) == [SpoolEntry(second, "b", "logs", 9, b"")]
        assert spool.read(0, max_entries=1, max_bytes=1 << 40)[0].seq == first
        stats = spool.stats()
        assert (stats.entries, stats.newest_seq, stats.oldest_received_ns, stats.broken) == (2, second, 7, "")
        assert 0 < stats.bytes < 200
        assert stats.free_bytes > 0


def test_read_is_bounded_in_bytes_but_gives_at_least_one(tmp_path: Path) -> None:
    with spool_in(tmp_path) as spool:
        for _ in range(3):
            put(spool, bytes(1000))
        assert len(spool.read(0, max_entries=10, max_bytes=10)) == 1
        assert len(spool.read(0, max_entries=10, max_bytes=2000)) == 2
        assert len(spool.read(0, max_entries=10, max_bytes=3000)) == 3


def test_numbers_grow_over_discard_and_restart(tmp_path: Path) -> None:
    with spool_in(tmp_path) as spool:
        last = [put(spool, b"x") for _ in range(3)][-1]
        spool.discard(last)
        eventually(lambda: spool.stats().entries == 0)
    with spool_in(tmp_path) as spool:
        assert put(spool, b"y") > last


def test_numbers_grow_even_when_the_clock_went_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with spool_in(tmp_path) as spool:
        last = put(spool, b"x")
        spool.discard(last)
        eventually(lambda: spool.stats().entries == 0)
    monkeypatch.setattr(time, "time_ns", lambda: 1_000_000)
    with spool_in(tmp_path) as spool:
        assert put(spool, b"y") > last


def test_waiting_entries_survive_a_restart(tmp_path: Path) -> None:
    with spool_in(tmp_path) as spool:
        seqs = [put(spool, bytes([i])) for i in range(5)]
        spool.discard(seqs[1])
        eventually(lambda: spool.stats().entries == 3)
    with spool_in(tmp_path) as spool:
        assert [(e.seq, e.payload) for e in read_all(spool)] == [(seqs[i], bytes([i])) for i in (2, 3, 4)]


def test_many_threads_share_commits_and_lose_nothing(tmp_path: Path) -> None:
    results: dict[bytes, int] = {}

    def send(name: int) -> None:
        for i in range(50):
            payload = f"{name}-{i}".encode()
            results[payload] = put(spool, payload)

    with spool_in(tmp_path) as spool:
        threads = [threading.Thread(target=send, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert {e.payload: e.seq for e in read_all(spool)} == results
        assert len(set(results.values())) == 400


def test_wait_wakes_the_reader_at_once_and_not_for_what_it_has_seen(tmp_path: Path) -> None:
    with spool_in(tmp_path) as spool:
        assert not spool.wait(0, 0.05)
        seen: list[float] = []

        def reader() -> None:
            assert spool.wait(0, 10)
            seen.append(time.monotonic())

        thread = threading.Thread(target=reader)
        thread.start()
        seq = put(spool, b"x")
        appended = time.monotonic()
        thread.join(10)
        assert seen
        assert seen[0] - appended < 1
        assert not spool.wait(seq, 0.05)
        assert spool.wait(seq - 1, 0)


def test_wait_does_not_spin_on_an_entry_that_was_set_aside(tmp_path: Path) -> None:
    with spool_in(tmp_path) as spool:
        kept, poison = put(spool, b"good"), put(spool, b"poison")
        spool.quarantine(read_all(spool)[1], "nobody can read it")
        eventually(lambda: not spool.wait(kept, 0))
        assert [e.seq for e in read_all(spool)] == [kept]
        assert (tmp_path / "quarantine" / f"{poison}.traces.pb").read_bytes() == b"poison"
        assert b"nobody can read it" in (tmp_path / "quarantine" / f"{poison}.json").read_bytes()


def test_what_is_set_aside_is_never_overwritten(tmp_path: Path) -> None:
    with spool_in(tmp_path) as spool:
        for number in range(3):  # a rebuilt file counts from 1 again
            spool.quarantine(SpoolEntry(1, "default", "traces", 5, b"entry %d" % number), "unreadable")
            spool.quarantine_row("default", "logs", 5, b"row %d" % number, "no table holds it")
        kept = sorted(path for path in (tmp_path / "quarantine").iterdir() if path.suffix != ".json")
        assert {path.read_bytes() for path in kept} == {
            b"entry 0",
            b"entry 1",
            b"entry 2",
            b"row 0",
            b"row 1",
            b"row 2",
        }
        assert [path.name for path in kept if path.suffix == ".pb"] == ["1-2.traces.pb", "1-3.traces.pb", "1.traces.pb"]
        assert len(list((tmp_path / "quarantine").glob("*.json"))) == len(kept)


def test_refuses_at_the_cap_and_accepts_again_after_a_discard(tmp_path: Path) -> None:
    with spool_in(tmp_path, max_bytes=10_000) as spool:
        seq = put(spool, os.urandom(9000))
        with pytest.raises(SpoolFull, match=r"spool\.max_bytes"):
            spool.append("default", "traces", os.urandom(2000), 0)
        spool.discard(seq)
        eventually(lambda: spool.stats().entries == 0)
        put(spool, os.urandom(2000))


def test_refuses_when_the_disk_is_low(tmp_path: Path) -> None:
    with spool_in(tmp_path, min_free_bytes=1 << 60) as spool:
        with pytest.raises(SpoolFull, match=r"spool\.min_free_bytes"):
            spool.append("default", "traces", b"x", 0)
        assert spool.stats().entries == 0


def test_who_gives_up_before_the_commit_is_not_written(tmp_path: Path) -> None:
    with spool_in(tmp_path) as spool:
        with spool._work:  # the writer cannot take anything yet
            gave_up = spool.append("default", "traces", b"gave up", 0)
            stayed = spool.append("default", "traces", b"stayed", 0)
            assert gave_up.cancel()
        stayed.result(10)
        assert [e.payload for e in read_all(spool)] == [b"stayed"]


def test_close_commits_what_was_appended_and_refuses_afterwards(tmp_path: Path) -> None:
    spool = Spool(tmp_path, min_free_bytes=0)
    futures: list[Future[int]] = [spool.append("default", "traces", bytes([i]), 0) for i in range(100)]
    spool.close()
    assert sorted(f.result(0) for f in futures) == [f.result(0) for f in futures]
    with pytest.raises(ShuttingDown):
        spool.append("default", "traces", b"late", 0)
    with spool_in(tmp_path) as again:
        assert len(read_all(again)) == 100


def test_one_process_a_folder(tmp_path: Path) -> None:
    with spool_in(tmp_path), pytest.raises(StoreError, match=f"pid {os.getpid()}"):
        Spool(tmp_path)
    with spool_in(tmp_path):
        pass


def test_more_waiting_than_the_disk_can_take_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("collector.spool.PENDING_BYTES", 1000)
    with spool_in(tmp_path) as spool, spool._work:
        spool.append("default", "traces", os.urandom(900), 0)
        with pytest.raises(Overloaded):
            spool.append("default", "traces", os.urandom(900), 0)


def test_discarded_bytes_are_in_no_file(tmp_path: Path) -> None:
    canary = os.urandom(64)
    with spool_in(tmp_path) as spool:
        seq = put(spool, canary)
        found = b"".join(f.read_bytes() for f in tmp_path.iterdir() if f.is_file())
        assert canary in found  # zstd stores what it cannot compress as it is
        put(spool, b"stays")
        spool.discard(seq)
        eventually(lambda: canary not in b"".join(f.read_bytes() for f in tmp_path.iterdir() if f.is_file()))
        assert [e.payload for e in read_all(spool)] == [b"stays"]


def test_a_drained_spool_gives_the_disk_back(tmp_path: Path) -> None:
    with spool_in(tmp_path) as spool:
        last = [put(spool, os.urandom(MIB)) for _ in range(30)][-1]
        spool.discard(last)
        eventually(lambda: sum(f.stat().st_size for f in tmp_path.iterdir() if f.is_file()) < MIB)


def test_the_log_stays_short_under_load(tmp_path: Path) -> None:
    with spool_in(tmp_path) as spool:
        longest = 0
        for _ in range(60):
            put(spool, os.urandom(MIB))
            longest = max(longest, (tmp_path / "spool.sqlite-wal").stat().st_size)
        assert longest < 40 * MIB


# --- damage ---


def damage_payload(folder: Path, seq: int) -> None:
    with sqlite3.connect(folder / "spool.sqlite") as connection:
        (packed,) = connection.execute("SELECT payload FROM entries WHERE seq = ?", (seq,)).fetchone()
        bad = packed[:-6] + bytes([packed[-6] ^ 0xFF]) + packed[-5:]
        connection.execute("UPDATE entries SET payload = ? WHERE seq = ?", (bad, seq))
    connection.close()


def test_a_damaged_entry_is_set_aside_and_its_neighbours_are_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with spool_in(tmp_path) as spool:
        seqs = [put(spool, os.urandom(100)) for _ in range(3)]
    damage_payload(tmp_path, seqs[1])
    with spool_in(tmp_path) as spool:
        with caplog.at_level(logging.ERROR):
            assert [e.seq for e in read_all(spool)] == [seqs[0], seqs[2]]
        assert f"spool entry {seqs[1]} set aside" in caplog.text
        eventually(lambda: spool.stats().entries == 2)
        assert (tmp_path / "quarantine" / f"{seqs[1]}.traces.pb.zst").exists()


@pytest.mark.parametrize("garbage", [b"this is not a database" * 100, b"\0" * 100_000], ids=["text", "zeros"])
def test_a_file_of_garbage_is_set_aside_and_the_spool_starts(
    tmp_path: Path, garbage: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with spool_in(tmp_path) as spool:
        last = put(spool, b"x")
    (tmp_path / "spool.sqlite").write_bytes(garbage)
    with caplog.at_level(logging.ERROR), spool_in(tmp_path) as spool:
        assert read_all(spool) == []
        assert put(spool, b"y") > last
    assert "was damaged" in caplog.text
    assert any(f.name.startswith("spool-") for f in (tmp_path / "quarantine").iterdir())
    assert kept_in(tmp_path) == 1


def test_a_truncated_file_is_set_aside_and_what_can_be_read_is_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with spool_in(tmp_path) as spool:
        seqs = [put(spool, os.urandom(50_000)) for _ in range(40)]
    file = tmp_path / "spool.sqlite"
    os.truncate(file, file.stat().st_size // 2 // 8192 * 8192)
    with caplog.at_level(logging.ERROR), spool_in(tmp_path) as spool:
        eventually(lambda: bool(read_all(spool)))
        kept = [e.seq for e in read_all(spool)]
        assert set(kept) <= set(seqs)
        assert put(spool, b"new") > max(seqs)
    assert "was damaged" in caplog.text


def test_pages_damaged_while_it_runs_do_not_stop_it(tmp_path: Path) -> None:
    with spool_in(tmp_path) as spool:
        for _ in range(200):
            put(spool, os.urandom(2000))
        eventually(lambda: (tmp_path / "spool.sqlite-wal").stat().st_size == 0)
    file = tmp_path / "spool.sqlite"
    with open(file, "r+b") as out:
        out.seek(8192 * 20)
        out.write(os.urandom(8192 * 4))
    with spool_in(tmp_path) as spool:
        eventually(lambda: len(read_all(spool)) > 50)
        assert len(read_all(spool)) < 200
        seq = put(spool, b"new")
        assert read_all(spool)[-1] == SpoolEntry(seq, "default", "traces", 7, b"new")


def test_a_torn_tail_of_the_log_is_cut(tmp_path: Path) -> None:
    child = _child(
        tmp_path, "for i in range(20): print(spool.append('p', 'traces', bytes([i]), 0).result(), flush=True)"
    )
    acknowledged = [int(line) for line in _lines(child, 20)]
    _kill(child)
    with open(tmp_path / "spool.sqlite-wal", "ab") as out:
        out.write(os.urandom(5000))
    with spool_in(tmp_path) as spool:
        assert [e.seq for e in read_all(spool)] == acknowledged


# --- faults of the disk and of the process ---

_CHILD = """
import os, resource, sys, time
from pathlib import Path
from collector.errors import RetryableError
from collector.spool import Spool
spool = Spool(Path(sys.argv[1]), min_free_bytes=0)
"""


def _child(folder: Path, code: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", _CHILD + code, str(folder)], stdout=subprocess.PIPE, text=True)


def _lines(child: subprocess.Popen[str], count: int) -> list[str]:
    assert child.stdout is not None
    return [child.stdout.readline() for _ in range(count)]


def _kill(child: subprocess.Popen[str]) -> list[str]:
    """SIGKILL, then every whole line it had said."""
    child.send_signal(signal.SIGKILL)
    assert child.stdout is not None
    rest = child.stdout.read()
    child.stdout.close()
    child.wait()
    return rest[: rest.rfind("\n") + 1].splitlines()


@pytest.mark.parametrize("durability", ["fsync", "os"])
def test_sigkill_loses_nothing_acknowledged(tmp_path: Path, durability: str) -> None:
    code = f"""
spool.close(); spool = Spool(Path(sys.argv[1]), min_free_bytes=0, durability={durability!r})
from threading import Thread
def send(name):
    i = 0
    while True:
        payload = b"%d-%d " % (name, i) * 200
        seq = spool.append("p", "traces", payload, 0).result()
        os.write(1, b"%d %d-%d\\n" % (seq, name, i))
        if i % 20 == 19: spool.discard(seq - 100)
        i += 1
for name in range(4): Thread(target=send, args=(name,)).start()
"""
    seen: dict[int, str] = {}
    for _ in range(5):
        child = _child(tmp_path, code)
        lines = _lines(child, 150) + _kill(child)
        seen |= {int(seq): name.strip() for seq, name in (line.split(" ", 1) for line in lines)}
        with spool_in(tmp_path) as spool:
            found = {e.seq: e.payload.split()[0].decode() for e in read_all(spool)}
        oldest = min(found)
        missing = {seq: name for seq, name in seen.items() if seq >= oldest and found.get(seq) != name}
        assert missing == {}
    assert len(seen) >= 750


def test_a_write_error_refuses_until_a_write_succeeds_again(tmp_path: Path) -> None:
    child = _child(
        tmp_path,
        """
def attempt(payload):
    try:
        return spool.append("p", "traces", payload, 0).result(10)
    except RetryableError as error:
        return type(error).__name__
print(attempt(b"before") > 0, flush=True)
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, resource.RLIM_INFINITY))
print(attempt(os.urandom(200_000)), flush=True)
print(attempt(b"refused at once"), bool(spool.stats().broken), flush=True)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
end = time.monotonic() + 10
while isinstance(result := attempt(b"after"), str) and time.monotonic() < end: time.sleep(0.05)
print(result, spool.stats().broken, flush=True)
spool.close()
""",
    )
    assert [line.strip() for line in _lines(child, 3)] == ["True", "SpoolBroken", "SpoolBroken True"]
    after = int(_lines(child, 1)[0])
    _kill(child)
    with spool_in(tmp_path) as spool:
        payloads = [e.payload for e in read_all(spool)]
        assert payloads == [b"before", b"after"]
        assert read_all(spool)[-1].seq == after


def test_a_broken_spool_says_so_in_each_append_with_a_fresh_error(tmp_path: Path) -> None:
    with spool_in(tmp_path) as spool:
        spool._broken = SpoolBroken("for the test")
        raised = []
        for _ in range(2):
            with pytest.raises(SpoolBroken) as caught:
                spool.append("p", "traces", b"", 0)
            raised.append(caught.value)
        assert raised[0] is not raised[1]
        spool._broken = None
