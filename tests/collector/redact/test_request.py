"""Secrets in export requests: in every text of a span or log record, and nothing else is touched."""

from __future__ import annotations

import logging
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from collector.config import load
from collector.errors import UsageError
from collector.redact import key_of
from collector.redact.configured import redactor_of
from collector.redact.text import Texts
from tests.collector.receive.build import attributes, log, logs, span, traces
from tests.collector.redact.build import SAMPLES, redactor
from tests.semconv.recorded import CAPTURES, TESTS

SECRET = SAMPLES[0][2]


def run(request: Any, signal: str = "traces", **more: Any) -> Counter[str] | None:
    found = redactor(**more)(request, request.SerializeToString(), signal)
    return None if found is None else Counter(found)


def everywhere() -> Any:
    """A request with the secret in every place a text can be."""
    event = Span.Event(name=f"e {SECRET}", attributes=attributes({"note": SECRET}))
    link = Span.Link(trace_id=b"t" * 16, span_id=b"s" * 8, attributes=attributes({"note": SECRET}))
    values = {
        "text": SECRET,
        "list": ["a", SECRET],
        "map": {"deep": {"er": [SECRET]}, SECRET: 1},
        "bytes": SECRET.encode(),
        "json": f'{{"a": [{{"b": "{SECRET}"}}]}}',
        "password": 12345,
        "http.request.header.authorization": ["whatever"],
    }
    return traces(
        span(1, values, name=f"n {SECRET}", events=[event], links=[link], status=Status(message=f"m {SECRET}")),
        span(2, {"plain": "text", "n": 1}),
        resource={"service.name": "demo", "process.command_args": ["run", SECRET]},
    )


def test_a_secret_is_found_in_every_text_of_a_span() -> None:
    request = everywhere()
    found = run(request)
    wire = request.SerializeToString()
    assert SECRET.encode() not in wire
    assert b"12345" not in wire
    assert b"whatever" not in wire
    assert found == Counter(openai=12, password=1, authorization=1)
    assert request.resource_spans[0].scope_spans[0].spans[1] == span(2, {"plain": "text", "n": 1})


def test_a_secret_is_found_in_every_text_of_a_log_record() -> None:
    request = logs(log(f"body {SECRET}", {"a": SECRET}), log({"m": [SECRET]}, {}), log(SECRET.encode()))
    assert run(request, "logs") == Counter(openai=4)
    assert SECRET.encode() not in request.SerializeToString()


def test_a_request_without_secrets_is_not_touched() -> None:
    request = traces(span(1, {"gen_ai.tool.name": "Bash", "text": "ordinary"}))
    before = request.SerializeToString()
    assert run(request) is None
    assert request.SerializeToString() == before


def test_the_scan_of_the_wire_misses_nothing_whatever_stands_before_a_text() -> None:
    """A length can look like a letter: then the secret does not seem to begin a word."""
    for _, text, secret in SAMPLES:
        for padding in range(0, 140, 3):
            whole = text.format(secret) + " " + "x" * padding
            for request, signal in ((traces(span(1, {"k": whole}, name=whole)), "traces"), (logs(log(whole)), "logs")):
                assert redactor()._scan.hits(request.SerializeToString()), (text, padding, signal)


def test_ids_and_own_attributes_stay() -> None:
    values = {
        "passhat.task.id": SECRET, "passhat.task.expected": SECRET, "gen_ai.tool.call.id": SECRET,
        "session.id": SECRET, "langsmith.metadata.passhat.task.id": SECRET,
    }  # fmt: skip
    request = traces(span(1, {**values, "note": SECRET}))
    assert run(request, also=("email",)) == Counter(openai=1)
    assert list(request.resource_spans[0].scope_spans[0].spans[0].attributes)[:5] == attributes(values)


def test_a_value_that_breaks_the_redactor_costs_only_itself(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    honest = Texts.redacted

    def breaks(self: Texts, text: str, counts: Counter[str], depth: int = 0) -> str:
        if "poison" in text:
            raise RuntimeError(text)
        return honest(self, text, counts, depth)

    monkeypatch.setattr(Texts, "redacted", breaks)
    request = traces(span(1, {"a": f"poison {SECRET}", "b": SECRET}), span(2, {"c": SECRET, "d": "plain"}))
    with caplog.at_level(logging.ERROR):
        assert run(request) == Counter(openai=2, error=1)
    kept = [a.value.string_value for s in request.resource_spans[0].scope_spans[0].spans for a in s.attributes]
    assert [text.split(":")[1] if ":" in text else text for text in kept] == ["error", "openai", "openai", "plain"]
    assert SECRET not in caplog.text


def test_fields_nobody_knows_go_with_the_secret_they_may_hold() -> None:
    request = traces(span(1, {"a": "b"}))
    wire = request.SerializeToString() + b"\xfa\x7f" + bytes([len(SECRET)]) + SECRET.encode()  # field 2047
    read = type(request).FromString(wire)
    assert redactor()(read, wire, "traces") == {}
    assert SECRET.encode() not in read.SerializeToString()


@pytest.mark.parametrize("name", CAPTURES)
def test_nothing_of_a_recorded_agent_is_taken_for_a_secret(name: str) -> None:
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    shapes = {"traces": ExportTraceServiceRequest, "logs": ExportLogsServiceRequest}
    for file in sorted((TESTS / "captures" / name).glob("[0-9]*.pb")):
        signal = next((one for one in shapes if f"_{one}." in file.name), None)
        if signal is not None:
            wire = file.read_bytes()
            assert not redactor()(shapes[signal].FromString(wire), wire, signal)


# --- what is configured ---------------------------------------------------------------------------------------------


def test_the_key_is_made_once_beside_the_store_and_is_nobody_elses(tmp_path: Path) -> None:
    path = tmp_path / "data" / "redact.key"
    key = key_of(path)
    assert len(key) == 32
    assert key_of(path) == key
    assert path.stat().st_mode & 0o077 == 0
    path.write_bytes(b"short")
    with pytest.raises(UsageError, match="5 bytes are no key"):
        key_of(path)


def test_it_is_on_by_default_and_can_be_switched_off(tmp_path: Path) -> None:
    redact = redactor_of(load(env={}, overrides={"data": tmp_path}))
    request = traces(span(1, {"note": SECRET}))
    assert redact is not None
    assert redact(request, request.SerializeToString(), "traces") == {"openai": 1}
    assert redactor_of(load(env={"PASSHAT_REDACT__ENABLED": "false"}, overrides={"data": tmp_path})) is None


def test_marks_of_two_collectors_agree_when_they_share_the_key(tmp_path: Path) -> None:
    def mark(data: str, **env: str) -> str:
        redact = redactor_of(load(env=env, overrides={"data": tmp_path / data}))
        request = traces(span(1, {"note": SECRET}))
        assert redact is not None
        redact(request, request.SerializeToString(), "traces")
        return str(request.resource_spans[0].scope_spans[0].spans[0].attributes[0].value.string_value)

    assert mark("a") != mark("b")
    shared = {"PASSHAT_REDACT__KEY_FILE": str(tmp_path / "shared.key")}
    assert mark("a", **shared) == mark("b", **shared)


def test_an_empty_value_is_no_secret() -> None:
    request = traces(span(1, {"password": "", "cookie": None, "note": SECRET}))
    assert run(request) == Counter(openai=1)
    assert request.resource_spans[0].scope_spans[0].spans[0].attributes[1].value == AnyValue()
