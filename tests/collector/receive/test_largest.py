"""B026: a refusal for size names what is large, from the part of the request that arrived."""

from __future__ import annotations

import gzip
import time
from pathlib import Path

import pytest

from collector.config import load
from collector.receive.largest import largest
from collector.receive.limits import Limits
from collector.redact.configured import redactor_of
from tests.collector.receive.build import log, logs, span, traces
from tests.collector.receive.serving import PROTOBUF, listening

LARGE = {"small": "x", "gen_ai.input.messages": "y" * 5000, "n": 7}


def test_the_largest_record_and_its_attribute_are_named_however_much_arrived() -> None:
    spans = [span(1), span(2, LARGE, name="chat"), span(3)]
    body = traces(*spans).SerializeToString()
    size = spans[1].ByteSize()
    said = largest(body, "traces", str)
    assert said.startswith(
        f"; of the 3 spans read the largest is 'chat' with {size} bytes, most of it in 'gen_ai.input.m"
    )
    cut = body[: body.index(b"yyyy") + 100]
    assert largest(cut, "traces", str).startswith(
        f"; of the 2 spans read the largest is 'chat' with {size} bytes, most of it"
    )
    assert "of the 2 log records read the largest is 'refund'" in largest(
        logs(log("a"), log("b" * 500, event_name="refund")).SerializeToString(), "logs", str
    )


@pytest.mark.parametrize("body", [b"", b"\0" * 1000, b"\xff" * 1000, b"{}", traces(span(1)).SerializeToString()[:9]])
def test_nothing_is_said_of_what_cannot_be_read(body: bytes) -> None:
    assert largest(body, "traces", str) == ""


@pytest.mark.parametrize(
    "filling", [b"\x12\x00", b"\x08\x00", b"\x0a\x00", b"\x00"], ids=["records", "numbers", "groups", "0"]
)
def test_many_empty_fields_cost_little(filling: bytes) -> None:
    body = b"\x0a\x80\x80\x80\x80\x04" + b"\x12\x80\x80\x80\x80\x04" + filling * 1_000_000
    began = time.process_time()
    largest(body, "traces", str)
    assert time.process_time() - began < 1


def test_senders_are_told_over_http(tmp_path: Path) -> None:
    with listening(tmp_path, Limits(max_request_bytes=4000)) as at:
        body = gzip.compress(traces(span(1), span(2, LARGE, name="chat")).SerializeToString())
        reply = at.post("/v1/traces", body, PROTOBUF, content_encoding="gzip")
        assert reply.status_code == 413
        assert b"inflates to more than 4000 bytes" in reply.content
        assert b"the largest is 'chat' with 5" in reply.content
        assert b"send smaller batches" in reply.content


def test_a_secret_in_a_name_is_not_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """B187 beside B026: the name helps, what it must not hold is taken out."""
    token = "ghp_" + "a1B2" * 9
    config = load(env={}, overrides={"data": tmp_path})
    with listening(tmp_path, Limits(max_request_bytes=4000), redact=redactor_of(config)) as at:
        body = gzip.compress(traces(span(1, LARGE, name="x" * 80 + f" GET /?token={token}")).SerializeToString())
        reply = at.post("/v1/traces", body, PROTOBUF, content_encoding="gzip")
    assert b"the largest is 'xxx" in reply.content
    assert token[:8] not in reply.text + caplog.text
