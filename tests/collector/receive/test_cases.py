"""Public bug reports as ready inputs (tests/cases), as far as they concern receiving."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from semconv.span import Span
from tests.collector.receive.serving import Listeners

CASES = Path(__file__).parents[2] / "cases"


def case(prefix: str) -> Any:
    (file,) = CASES.glob(f"{prefix}_*.json")
    return json.loads(file.read_text())


def send(listeners: Listeners, prefix: str) -> list[Any]:
    """Posts the bodies of a case in order and checks the statuses it expects."""
    described = case(prefix)
    replies = []
    for request in described["requests"]:
        body = json.dumps(request["body"], ensure_ascii=False).encode()
        replies.append(listeners.post(request["path"], body, request["headers"]["Content-Type"]))
    assert [r.status_code for r in replies] == described["expected"]["http"]
    return replies


def by_id(spans: list[Span]) -> dict[str, Span]:
    return {span.span_id: span for span in spans}


def test_i01_hex_ids_in_mixed_case_join(listeners: Listeners) -> None:
    send(listeners, "I01")
    expected = case("I01")["expected"]
    assert {s.trace_id for s in listeners.spans()} == set(expected["trace_ids"])
    assert [s.span_id for s in listeners.spans()] == expected["span_ids"]
    assert by_id(listeners.spans())["b000000000000002"].parent_span_id == "b000000000000001"


def test_i02_base64_ids_are_refused_and_named(listeners: Listeners) -> None:
    (reply,) = send(listeners, "I02")
    assert all(word in reply.text for word in case("I02")["expected"]["response_mentions"])
    assert listeners.spans() == []


def test_i03_integers_stay_exact(listeners: Listeners) -> None:
    send(listeners, "I03")
    (span,) = listeners.spans()
    assert (span.start_ns, span.end_ns) == (1793000000123456789, 1793000000123456790)
    assert span.attributes == case("I03")["expected"]["attributes"]


def test_i04_bad_ids_cost_their_own_span(listeners: Listeners) -> None:
    (reply,) = send(listeners, "I04")
    partial = reply.json()["partialSuccess"]
    assert partial["rejectedSpans"] == "3"
    assert partial["errorMessage"]
    assert "retry-after" not in reply.headers
    assert [s.span_id for s in listeners.spans()] == case("I04")["expected"]["span_ids"]


def test_i05_a_retried_batch_is_kept_as_often_as_it_was_acknowledged(listeners: Listeners) -> None:
    send(listeners, "I05")
    assert len(listeners.spans()) == 7
    assert len({(s.trace_id, s.span_id) for s in listeners.spans()}) == 3


def test_i06_versions_of_one_span_arrive_in_order(listeners: Listeners) -> None:
    send(listeners, "I06")
    ends = [(s.trace_id[-2:], (s.end_ns - s.start_ns) // 10**6) for s in listeners.spans()]
    assert ends == [("3d", 500), ("3e", 500), ("3d", 900)]


@pytest.mark.parametrize(("prefix", "spans"), [("I07", 3), ("I09", 5), ("I10", 9), ("I17", 9), ("I19", 11), ("I21", 2)])
def test_odd_but_valid_spans_all_arrive(listeners: Listeners, prefix: str, spans: int) -> None:
    for reply in send(listeners, prefix):
        assert reply.json() == {}
    assert len(listeners.spans()) == spans


def test_i10_times_are_kept_as_sent(listeners: Listeners) -> None:
    send(listeners, "I10")
    found = by_id(listeners.spans())
    assert found["b000000000000005"].start_ns == 2**64 - 1
    assert found["b000000000000004"].end_ns == 0


def test_i11_hostile_attributes_all_arrive(listeners: Listeners) -> None:
    send(listeners, "I11")
    odd, neighbour = listeners.spans()
    assert neighbour.name == "neighbour"
    values = odd.attributes
    assert values["nul"] == "a\x00b"
    assert values["nan"] != values["nan"]
    assert values["inf"] == float("-inf")
    assert values["bytes"] == b"\x00\x01\xff"
    assert values["kv"] == {"a": [1, "x", True, None], "b": {}}
    assert values["empty_value"] is None
    assert values["dup"] == "second"
    assert (values["dots.a"], values["dots"], values[""]) == ("1", "2", "empty key")
    assert values["quote'\"\\`;--"] == "odd key"
