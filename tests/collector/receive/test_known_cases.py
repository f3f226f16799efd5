"""Reported faults of receivers that no other test here shows (docs/known-cases.md)."""

from __future__ import annotations

import gzip
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from collector.receive.limits import Limits
from tests.collector.receive.build import span, traces
from tests.collector.receive.serving import PROTOBUF, listening
from tests.collector.receive.test_receiver import Bench

IDS = {"traceId": "a" * 32, "spanId": "b" * 16}
BARE: list[dict[str, Any]] = [
    IDS,
    {**IDS, "links": [IDS], "events": [{}], "status": {}},
    {**IDS, "links": [{}], "events": [{"name": "e"}, {"timeUnixNano": "1"}]},
]


@pytest.fixture
def bench(tmp_path: Path) -> Any:
    made = Bench(tmp_path)
    yield made
    made.spool.close()


@pytest.mark.parametrize("one", BARE)
def test_b050_a_span_with_nothing_optional_is_kept_and_so_is_the_next_request(bench: Bench, one: Any) -> None:
    body = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [one]}]}]}).encode()
    reply = bench.send(body, encoding="json")
    rejected = json.loads(reply.body).get("partialSuccess", {}).get("rejectedSpans", "0")
    assert (reply.http_status, rejected) == (200, "0")
    assert bench.send(traces(span(1))).http_status == 200
    bare, whole = bench.spans()
    assert (bare.span_id.hex(), whole.name) == ("b" * 16, "span 1")
    assert len(bare.events) == len(one.get("events", ()))


def test_b026_the_log_names_the_largest_span_of_what_was_too_large(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    body = gzip.compress(traces(span(1), span(2, {"text": "y" * 5000}, name="chat")).SerializeToString())
    with caplog.at_level(logging.WARNING), listening(tmp_path, Limits(max_request_bytes=4000)) as at:
        reply = at.post("/v1/traces", body, PROTOBUF, content_encoding="gzip")
    assert reply.status_code == 413
    assert "refused (too_large): the request inflates to more than 4000 bytes" in caplog.text
    assert "of the 2 spans read the largest is 'chat'" in caplog.text


def test_b026_a_declared_length_is_told_beside_the_limit(tmp_path: Path) -> None:
    body = traces(span(1, {"text": "y" * 5000})).SerializeToString()
    with listening(tmp_path, Limits(max_request_bytes=4000)) as at:
        reply = at.post("/v1/traces", body, PROTOBUF)
    assert reply.status_code == 413
    assert f"the request has {len(body)} bytes, 4000 are accepted".encode() in reply.content
