"""From the spool to the store: nothing leaves the spool before it is in, and nothing broken blocks the rest."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.config.keys import StoreConfig
from collector.errors import StoreError
from collector.metrics import Metrics
from collector.normalise import drain as drain_module
from collector.normalise.drain import Drain
from collector.spool import Spool
from collector.store.rows import Batch
from collector.store.store import Store
from collector.store.writer import Rejected
from semconv.span import Span
from semconv.words import Words
from tests.support.serving import until

DEADLINE_S = 30


def request(number: int) -> bytes:
    built = ExportTraceServiceRequest()
    span = built.resource_spans.add().scope_spans.add().spans.add()
    span.trace_id, span.span_id, span.name = number.to_bytes(16, "big"), number.to_bytes(8, "big"), f"span {number}"
    span.start_time_unix_nano = span.end_time_unix_nano = 1_793_000_000_000_000_000
    return built.SerializeToString()


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    opened = Spool(tmp_path / "spool.sqlite", max_bytes=1 << 30, min_free_bytes=0)
    yield opened
    opened.close()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store.open(StoreConfig(url=f"chdb:{tmp_path / 'store'}"), tmp_path)
    yield opened
    opened.close()


def put(spool: Spool, *payloads: bytes) -> None:
    for future in [spool.append("default", "traces", payload, time.time_ns()) for payload in payloads]:
        future.result(DEADLINE_S)


def names(store: Store) -> list[str]:
    return [name for (name,) in store.query("SELECT name FROM spans FINAL ORDER BY name").rows]


class Away:
    """A store that is away for the first inserts."""

    def __init__(self, store: Store, times: int) -> None:
        self._store, self.left, self.tries = store, times, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def insert(self, batch: Batch) -> list[Rejected]:
        self.tries += 1
        if self.left:
            self.left -= 1
            raise StoreError("away")
        return self._store.insert(batch)


def test_a_store_that_is_away_keeps_everything_in_the_spool(
    spool: Spool, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drain_module, "FIRST_RETRY_S", 0.01)
    put(spool, *(request(number) for number in range(1, 6)))
    away, stored = Away(store, times=3), threading.Event()
    drain = Drain(spool, away, Words(), Metrics(), stored.set)  # type: ignore[arg-type]
    drain.start()
    until(lambda: away.tries, lambda tries: tries >= 1)
    assert spool.stats().entries == 5 or stored.is_set()
    assert stored.wait(DEADLINE_S)
    drain.stop()
    assert names(store) == [f"span {number}" for number in range(1, 6)]
    assert spool.stats().entries == 0
    assert away.tries == 4
    assert drain.healthy


def test_a_request_that_cannot_be_read_is_set_aside_and_counted(spool: Spool, store: Store, tmp_path: Path) -> None:
    put(spool, request(1), b"\xff\xff not protobuf", request(2))
    metrics = Metrics()
    drain = Drain(spool, store, Words(), metrics, lambda: None)
    drain.start()
    until(lambda: spool.stats().entries, lambda entries: entries == 0)
    drain.stop()
    assert names(store) == ["span 1", "span 2"]
    assert [path for path in tmp_path.rglob("*") if "quarantine" in path.parts[-2]]
    assert metrics.registry.get_sample_value("passhat_store_errors_total", {"reason": "DecodeError"}) == 1


def test_every_row_that_no_table_can_hold_is_kept(spool: Spool, store: Store, tmp_path: Path) -> None:
    class Choosy(Away):
        def insert(self, batch: Batch) -> list[Rejected]:
            return [Rejected(row, f"no {number}") for number, row in enumerate(batch.spans)]

    put(spool, request(1), request(2), request(3))
    metrics = Metrics()
    drain = Drain(spool, Choosy(store, 0), Words(), metrics, lambda: None)  # type: ignore[arg-type]
    drain.start()
    until(lambda: spool.stats().entries, lambda entries: entries == 0)
    drain.stop()
    kept = [path.read_text() for path in tmp_path.rglob("quarantine/*.traces.row")]
    assert sorted(json.loads(text)["name"] for text in kept) == ["span 1", "span 2", "span 3"]
    notes = [json.loads(path.read_text())["reason"] for path in tmp_path.rglob("quarantine/*.json")]
    assert len(notes) == 3
    assert metrics.registry.get_sample_value("passhat_store_errors_total", {"reason": "poison_row"}) == 3


def test_keys_that_come_again_are_counted(spool: Spool, store: Store) -> None:
    built = ExportTraceServiceRequest.FromString(request(1))
    for element in (built.resource_spans[0].resource, built.resource_spans[0].scope_spans[0].spans[0]):
        for value in ("a", "b", "c"):
            element.attributes.add(key="again").value.string_value = value
    put(spool, built.SerializeToString(), request(2))
    metrics = Metrics()
    drain = Drain(spool, store, Words(), metrics, lambda: None)
    drain.start()
    drain.stop()
    assert metrics.registry.get_sample_value("passhat_repeated_keys_total", {"signal": "traces"}) == 4
    assert store.query("SELECT attr_string['again'] FROM spans WHERE name = 'span 1'").rows == [("c",)]


def test_a_fault_of_ours_blocks_nothing_behind_it(spool: Spool, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    real = drain_module.span_row

    def broken(project: str, received_ns: int, span: Span, *more: Any) -> Any:
        if span.name == "span 1":
            raise TypeError("half written")
        return real(project, received_ns, span, *more)

    monkeypatch.setattr(drain_module, "span_row", broken)
    put(spool, request(1), request(2))
    drain = Drain(spool, store, Words(), Metrics(), lambda: None)
    drain.start()
    until(lambda: spool.stats().entries, lambda entries: entries == 0)
    drain.stop()
    assert names(store) == ["span 2"]


def test_stopping_keeps_its_time_and_leaves_the_rest_in_the_spool(
    spool: Spool, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drain_module, "MAX_ROWS", 1)
    put(spool, *(request(number) for number in range(1, 41)))

    class Slow(Away):
        def insert(self, batch: Batch) -> list[Rejected]:
            time.sleep(0.1)
            return super().insert(batch)

    drain = Drain(spool, Slow(store, times=0), Words(), Metrics(), lambda: None)  # type: ignore[arg-type]
    drain.start()
    began = time.monotonic()
    drain.stop(0.5)
    assert time.monotonic() - began < 0.5 + drain_module.LAST_INSERT_S
    stored = names(store)
    left = until(lambda: spool.stats().entries, lambda entries: entries == 40 - len(stored))
    assert left > 0


def test_stopping_stores_what_is_spooled(spool: Spool, store: Store) -> None:
    put(spool, *(request(number) for number in range(1, 200)))
    drain = Drain(spool, store, Words(), Metrics(), lambda: None)
    drain.start()
    drain.stop()
    assert len(names(store)) == 199
    assert spool.stats().entries == 0
