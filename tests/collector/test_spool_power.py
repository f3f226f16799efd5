"""Power cuts: the disk keeps what was synced, and of the rest any part of any write, or none.

A recorded run is played back up to a random moment, unsynced writes are dropped or torn by sectors, and the spool opens
what is left. That this would show a loss is shown by the same run without syncs.
"""

from __future__ import annotations

import logging
import os
import random
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec import Struct

from collector.errors import RetryableError
from collector.spool import Spool

SHIM = Path(__file__).parent / "recording_disk.c"
CUTS = 150
SECTOR = 512
CHILD = """
import os, signal, sys, threading
from pathlib import Path
from collector import spool as module
module.CHECKPOINT_BYTES = 200_000  # many checkpoints in a short run
module.IDLE_S = 0.2
spool = module.Spool(Path(sys.argv[1]), durability=sys.argv[2], min_free_bytes=0)
def send(name):
    for i in range(60):
        payload = b"%d-%d " % (name, i) + os.urandom(3000)
        seq = spool.append("p", "traces", payload, 0).result()
        os.write(1, b"%d %d-%d\\n" % (seq, name, i))
        if i % 10 == 9:
            os.write(1, b"%d discarded\\n" % (seq - 15))
            spool.discard(seq - 15)
        if i == 30: threading.Event().wait(0.5)  # idle: the log is emptied
threads = [threading.Thread(target=send, args=(name,)) for name in range(3)]
[t.start() for t in threads]
[t.join() for t in threads]
os.kill(os.getpid(), signal.SIGKILL)
"""


class Step(Struct, frozen=True):
    """One thing the process did: `w`rite, `t`runcate, `s`ync of a file, or `a` line on standard output."""

    kind: str
    file: str
    offset: int
    data: bytes


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    if not compiler or not sys.platform.startswith("linux"):
        pytest.skip("no C compiler here: the disk cannot be recorded")
    library = tmp_path_factory.mktemp("shim") / "recording_disk.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(SHIM), "-ldl"], check=True)
    return library


def recorded(folder: Path, shim: Path, durability: str) -> list[Step]:
    recording = folder / "recording"
    environment = {**os.environ, "LD_PRELOAD": str(shim), "RECORDING_DISK": str(recording)}
    command = [sys.executable, "-c", CHILD, str(folder / "spool"), durability]
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, timeout=120, check=False)
    return list(_steps(recording.read_bytes()))


def _steps(data: bytes) -> Iterator[Step]:
    position = 0
    while position < len(data):
        kind, offset, size, name = struct.unpack_from("<cqI64s", data, position)
        position += 77
        yield Step(kind.decode(), name.rstrip(b"\0").decode(), offset, data[position : position + size])
        position += size


def after_a_cut(steps: list[Step], chance: random.Random) -> dict[str, bytes]:
    """The files as a disk may hold them when the power goes after these steps."""
    synced: dict[str, bytearray] = {}
    waiting: dict[str, list[Step]] = {}
    for step in steps:
        if step.kind == "s":
            for one in waiting.pop(step.file, []):
                _apply(synced.setdefault(step.file, bytearray()), one)
        elif step.kind in "wt":
            waiting.setdefault(step.file, []).append(step)
    keep = chance.choice([0.0, 0.5, 0.9, 1.0])
    for file, left in waiting.items():
        for one in left:
            if chance.random() < keep:
                _apply(synced.setdefault(file, bytearray()), _torn(one, chance) if keep < 1 else one)
    return {file: bytes(content) for file, content in synced.items()}


def _apply(content: bytearray, step: Step) -> None:
    end = step.offset + len(step.data)
    if step.kind == "t":
        del content[step.offset :]
        end = step.offset
    if len(content) < end:
        content.extend(bytes(end - len(content)))
    if step.kind == "w":
        content[step.offset : end] = step.data


def _torn(step: Step, chance: random.Random) -> Step:
    """A write of which only the first sectors arrived."""
    if step.kind == "t" or chance.random() < 0.5:
        return step
    sectors = chance.randrange(len(step.data) // SECTOR + 1)
    return Step(step.kind, step.file, step.offset, step.data[: sectors * SECTOR])


def missing_after(steps: list[Step], chance: random.Random, folder: Path) -> set[int]:
    """Acknowledged numbers that are not there after a cut behind these steps, discarded ones aside."""
    acknowledged: dict[int, str] = {}
    discarded = 0
    for step in steps:
        if step.kind == "a":
            seq, _, what = step.data.decode().strip().partition(" ")
            if what == "discarded":
                discarded = max(discarded, int(seq))
            else:
                acknowledged[int(seq)] = what
    folder.mkdir()
    for file, content in after_a_cut(steps, chance).items():
        (folder / file).write_bytes(content)
    spool = Spool(folder, min_free_bytes=0)
    try:
        found = spool.read(0, max_entries=10**6, max_bytes=1 << 40)
    finally:
        spool.close()
    stored = {entry.seq: entry.payload.split(b" ", 1)[0].decode() for entry in found}
    assert len(stored) == len(found)
    return {seq for seq, what in acknowledged.items() if seq > discarded and stored.get(seq) != what}


def test_no_power_cut_loses_what_was_acknowledged(tmp_path: Path, shim: Path, caplog: pytest.LogCaptureFixture) -> None:
    chance = random.Random(11)
    steps = recorded(tmp_path, shim, "fsync")
    kinds = [step.kind for step in steps]
    assert kinds.count("s") > 30
    assert kinds.count("a") >= 180
    assert kinds.count("t") >= 1
    with caplog.at_level(logging.ERROR):
        for cut in range(CUTS):
            end = chance.randrange(kinds.index("a"), len(steps) + 1)
            assert missing_after(steps[:end], chance, tmp_path / str(cut)) == set(), f"cut after step {end}"
            shutil.rmtree(tmp_path / str(cut))
    assert caplog.text == ""  # nothing was found damaged either


def test_the_same_without_syncs_would_show_losses(tmp_path: Path, shim: Path) -> None:
    chance = random.Random(12)
    steps = recorded(tmp_path, shim, "os")
    unsynced = [step for step in steps if step.kind != "s"]
    lost = 0
    for cut in range(30):
        lost += bool(missing_after(unsynced[: chance.randrange(len(unsynced))], chance, tmp_path / str(cut)))
    assert lost > 5


def test_a_spool_that_lost_syncs_works_again_whatever_is_left_of_it(tmp_path: Path, shim: Path) -> None:
    """Pages of any age beside each other: SQLite itself may not notice, and no reader may run in circles."""
    chance = random.Random(13)
    unsynced = [step for step in recorded(tmp_path, shim, "os") if step.kind != "s"]
    for cut in range(40):
        folder = tmp_path / str(cut)
        folder.mkdir()
        for file, content in after_a_cut(unsynced[: chance.randrange(len(unsynced))], chance).items():
            (folder / file).write_bytes(content)
        spool = Spool(folder, min_free_bytes=0)
        try:
            eventually(lambda: _accepts(spool), f"cut {cut}: appends")  # noqa: B023
            eventually(lambda: _drains(spool), f"cut {cut}: drains")  # noqa: B023
        finally:
            spool.close()


def _accepts(spool: Spool) -> bool:
    try:
        seq = spool.append("p", "traces", b"new", 1).result(10)
    except RetryableError:
        return False
    return any(entry.seq == seq for entry in spool.read(seq - 1, max_entries=10, max_bytes=1 << 20))


def _drains(spool: Spool) -> bool:
    """What the pipeline does: read everything, discard it, until nothing is left."""
    after = 0
    while entries := spool.read(after, max_entries=50, max_bytes=1 << 30):
        after = entries[-1].seq
    spool.discard(after)
    return spool.stats().entries == 0 and not spool.stats().broken


def eventually(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


FAILING = """
import os, signal, sys, time
from pathlib import Path
from collector.errors import RetryableError
from collector.spool import Spool
spool, failing = Spool(Path(sys.argv[1]), min_free_bytes=0), Path(os.environ["FAILING_DISK"])
def attempt(payload):
    try: spool.append("p", "traces", payload, 0).result(20)
    except RetryableError as error: return type(error).__name__
    return "kept"
print(attempt(b"before"), flush=True)
failing.touch()
print(attempt(b"during"), attempt(b"refused at once"), flush=True)
time.sleep(1.5)  # the spool tries again meanwhile, and must not be fooled
print(attempt(b"still"), flush=True)
failing.unlink()
end = time.monotonic() + 20
while attempt(b"after") != "kept" and time.monotonic() < end: time.sleep(0.05)
print("kept", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_sync_that_fails_is_no_acknowledgement(tmp_path: Path, shim: Path) -> None:
    environment = {**os.environ, "LD_PRELOAD": str(shim), "FAILING_DISK": str(tmp_path / "failing")}
    command = [sys.executable, "-c", FAILING, str(tmp_path / "spool")]
    ran = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, timeout=60, check=False)
    assert ran.stdout.split() == ["kept", "SpoolBroken", "SpoolBroken", "SpoolBroken", "kept"]
    spool = Spool(tmp_path / "spool", min_free_bytes=0)
    try:
        kept = [entry.payload for entry in spool.read(0, max_entries=10, max_bytes=1 << 20)]
    finally:
        spool.close()
    assert kept[0] == b"before"
    assert kept[-1] == b"after"
    assert set(kept) <= {b"before", b"during", b"after"}  # what was not acknowledged may be there or not
