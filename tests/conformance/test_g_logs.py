"""Log records: items 80 to 85."""

from __future__ import annotations

from typing import Any

import pytest

from tests.collector.receive.build import START, log, logs, span_id
from tests.conformance.conftest import Target
from tests.conformance.wires import Wire


def sent(wire: Wire, target: Target, body: Any = "text", warned: bool = False, **fields: Any) -> Any:
    reply = wire.send(logs(log(body, **fields)), "logs")
    assert (reply.code, reply.rejected, bool(reply.message)) == ("OK", 0, warned)
    return target.logs()[-1] if target.own is not None else None


@pytest.mark.item(80)
@pytest.mark.parametrize(("time", "observed"), [(START, START + 1), (0, START), (0, 0), (2**64 - 1, 0)])
def test_times(wire: Wire, target: Target, time: int, observed: int) -> None:
    stored = sent(wire, target, time_unix_nano=time, observed_time_unix_nano=observed)
    assert stored is None or (stored.time_ns, stored.observed_ns) == (time, observed)


@pytest.mark.item(81)
@pytest.mark.parametrize(
    ("trace_id", "warned"), [(b"", False), (b"\1" * 5, True), (bytes(16), False), (b"\1" * 17, True)]
)
def test_invalid_trace_ids(wire: Wire, target: Target, trace_id: bytes, warned: bool) -> None:
    stored = sent(wire, target, warned=warned, trace_id=trace_id, span_id=span_id(1))
    assert stored is None or (stored.trace_id, stored.span_id) == ("", "")


@pytest.mark.item(82)
def test_ids_belong_together(wire: Wire, target: Target) -> None:
    stored = sent(wire, target, trace_id=target.trace_id, span_id=span_id(1))
    assert stored is None or (stored.trace_id, stored.span_id) == (target.trace_id.hex(), span_id(1).hex())
    stored = sent(wire, target, span_id=span_id(1))
    assert stored is None or (stored.trace_id, stored.span_id) == ("", "")
    stored = sent(wire, target, trace_id=target.trace_id)
    assert stored is None or (stored.trace_id, stored.span_id) == (target.trace_id.hex(), "")


@pytest.mark.item(83)
@pytest.mark.parametrize(
    "body", ["text", "", None, 5, 0.5, True, b"\xff", [1, [None]], {"role": "user", "parts": [{"type": "text"}]}]
)
def test_events_and_bodies_of_every_kind(wire: Wire, target: Target, body: Any) -> None:
    stored = sent(wire, target, body, event_name="gen_ai.client.inference.operation.details")
    assert stored is None or (stored.body, stored.event_name[:7]) == (body, "gen_ai.")


@pytest.mark.item(84)
@pytest.mark.parametrize(("number", "text"), [(0, ""), (9, ""), (0, "odd"), (9, "INFO"), (99, "beyond")])
def test_severities(wire: Wire, target: Target, number: int, text: str) -> None:
    stored = sent(wire, target, severity_number=number, severity_text=text)
    assert stored is None or (stored.severity_number, stored.severity_text) == (number, text)


@pytest.mark.item(85)
def test_dropped_counts_and_flags(wire: Wire, target: Target) -> None:
    stored = sent(wire, target, flags=0xFFFFFFFF, dropped_attributes_count=7)
    assert stored is None or (stored.flags, stored.dropped_attributes) == (0xFFFFFFFF, 7)
