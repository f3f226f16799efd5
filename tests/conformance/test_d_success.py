"""Empty, full and partial success: items 40 to 47."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from tests.collector.receive.build import traces
from tests.conformance.conftest import Target
from tests.conformance.wires import Signal, Wire


@pytest.mark.item(40)
def test_nothing_in_it_succeeds(wire: Wire, target: Target, signal: Signal) -> None:
    group, scope = {"traces": ("resource_spans", "scope_spans"), "logs": ("resource_logs", "scope_logs")}[signal]
    empty = type(target.request(signal))()
    with_group = type(empty)()
    getattr(with_group, group).add()
    with_scope = type(empty)()
    getattr(getattr(with_scope, group).add(), scope).add()
    for request in (empty, with_group, with_scope, target.request(signal)):
        reply = wire.send(request, signal)
        assert (reply.code, reply.rejected, reply.message) == ("OK", 0, "")
    target.stored(signal)


@pytest.mark.item(41, 42, 43)
def test_one_bad_of_many_costs_itself(wire: Wire, target: Target) -> None:
    request = target.request("traces", *range(1, 513))
    request.resource_spans[0].scope_spans[0].spans[17].trace_id = b"\1" * 8
    reply = wire.send(request)
    assert (reply.code, reply.rejected) == ("OK", 1)
    assert "traceId" in reply.message
    assert "[17]" in reply.message
    target.stored("traces", *(n for n in range(1, 513) if n != 18))


@pytest.mark.item(42)
def test_all_bad_is_bad_data(wire: Wire, target: Target) -> None:
    assert wire.send(target.request("traces", 1, 2, span_id=b"")).code == "INVALID_ARGUMENT"
    target.stored("traces")


@pytest.mark.item(45)
@pytest.mark.own
def test_a_full_spool_is_never_a_partial_success(other: Callable[..., Any]) -> None:
    with other() as it:
        it.target.own.spool.max_bytes = 0
        for signal in ("traces", "logs"):
            for wire in it.wires.values():
                reply = wire.send(it.target.request(signal, 1), signal)
                assert (reply.code, reply.rejected) == ("UNAVAILABLE", 0)
                assert reply.retry_s is not None


@pytest.mark.item(46)
def test_an_empty_partial_success_reads_as_none() -> None:
    response = ExportTraceServiceResponse()
    response.partial_success.SetInParent()
    found = ExportTraceServiceResponse.FromString(response.SerializeToString()).partial_success
    assert (found.rejected_spans, found.error_message) == (0, "")


@pytest.mark.item(47)
@pytest.mark.own
def test_what_is_dropped_is_counted_by_reason_and_logged(
    other: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    with other() as it:
        request = traces(into=it.target.request("traces", 1, 2))
        request.resource_spans[0].scope_spans[0].spans[0].span_id = b""
        with caplog.at_level(logging.WARNING):
            assert it.wires["http json"].send(request).rejected == 1
        assert it.target.own.count("refused", signal="traces", reason="invalid_span_id") == 1
        assert it.target.own.count("accepted", signal="traces") == 1
        assert "invalid_span_id" in caplog.text
