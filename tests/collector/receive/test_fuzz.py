"""Mutated requests over every way in: refused or kept, never a fault of ours, never a hang, never memory."""

from __future__ import annotations

import gzip
import random
import resource
import time
from pathlib import Path
from typing import Any

import pytest
import zstandard

from collector.errors import PermanentError
from collector.metrics import Metrics
from collector.normalise.unpack import logs_of, spans_of
from collector.receive.inflate import inflate
from collector.receive.limits import Limits
from collector.receive.otlp import Receiver
from collector.spool import Spool
from tests.collector.receive.build import TRACE, as_json, log, logs, span, span_id, traces

MUTANTS = 8000
INSERTS = [b"\xff", b"\\ud800", b"null", b"1e999", b"[[[", b"9" * 30, b"\x00", b'"', b"\x80\x01"]
FINE = {200, 400}


def seeds(signal: str) -> Any:
    if signal == "logs":
        return logs(log({"role": "user", "parts": [1, None]}, {"k": "v" * 30}, trace_id=TRACE), log("text"))
    one = span(
        1, {"text": "x" * 30, "list": ["a", {"b": b"c"}], "n": 5, "d": 0.5, "t": True}, parent_span_id=span_id(2)
    )
    one.events.add(name="event").attributes.extend(span(1, {"e": "f"}).attributes)
    one.links.add(trace_id=TRACE, span_id=span_id(3), trace_state="a=b")
    one.status.code, one.status.message = 2, "boom"
    return traces(one, span(2), into=traces(span(3)))


def mutant(body: bytes, chance: random.Random) -> bytes:
    """A few of: a byte changed, cut, repeated, inserted, two swapped."""
    out = bytearray(body)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(out)) if out else 0
        kind = chance.randrange(5)
        if kind == 0 and out:
            out[at] = chance.randrange(256)
        elif kind == 1:
            del out[at : at + chance.randint(1, 20)]
        elif kind == 2:
            out[at:at] = out[at : at + chance.randint(1, 40)]
        elif kind == 3:
            out[at:at] = chance.choice(INSERTS)
        elif out:
            other = chance.randrange(len(out))
            out[at], out[other] = out[other], out[at]
    return bytes(out)


@pytest.mark.parametrize("encoding", ["protobuf", "json"])
@pytest.mark.parametrize("signal", ["traces", "logs"])
def test_mutated_requests(tmp_path: Path, signal: Any, encoding: Any) -> None:
    chance = random.Random(f"{signal} {encoding}")
    request = seeds(signal)
    body = request.SerializeToString() if encoding == "protobuf" else as_json(request)
    spool = Spool(tmp_path, durability="os", min_free_bytes=0)
    receiver = Receiver(spool, Metrics(), Limits(max_attributes=6, max_value_bytes=200))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found: dict[int, int] = {}
    try:
        for _ in range(MUTANTS):
            sent = mutant(body, chance)
            started = time.monotonic()
            status = receiver.handle(signal, encoding, sent).http_status
            found[status] = found.get(status, 0) + 1
            assert status in FINE, sent
            assert time.monotonic() - started < 20, sent
        for entry in spool.read(0, max_entries=MUTANTS, max_bytes=1 << 40):
            list(spans_of(entry.payload) if signal == "traces" else logs_of(entry.payload))
    finally:
        spool.close()
    assert min(found.get(status, 0) for status in FINE) > 100
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < 64


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_mutated_compressed_bodies(coding: str) -> None:
    chance = random.Random(coding)
    body = seeds("traces").SerializeToString() * 20
    packed = gzip.compress(body) if coding == "gzip" else zstandard.compress(body)
    kept = refused = 0
    for _ in range(MUTANTS):
        try:
            assert len(inflate(mutant(packed, chance), coding, 1 << 20)) <= 1 << 20
        except PermanentError:
            refused += 1
        else:
            kept += 1
    assert refused > MUTANTS // 2
    assert kept < MUTANTS // 4


@pytest.mark.parametrize("encoding", ["protobuf", "json"])
def test_garbage(tmp_path: Path, encoding: Any) -> None:
    chance = random.Random(encoding)
    spool = Spool(tmp_path, durability="os", min_free_bytes=0)
    try:
        receiver = Receiver(spool, Metrics())
        for size in (1, 2, 3, 10, 100, 1000, 100_000):
            for _ in range(50):
                assert receiver.handle("traces", encoding, chance.randbytes(size)).http_status in FINE
                assert receiver.handle("logs", encoding, bytes([chance.randrange(256)]) * size).http_status in FINE
    finally:
        spool.close()
