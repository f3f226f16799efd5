"""What readers of traces were reported to lose before a verdict (docs/known-cases.md): spans in, verdicts out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from graders.checkset import CheckSet
from semconv.span import Span
from tests.collector.assemble.build import run_of
from tests.collector.assemble.recorded import of_capture, of_spans
from tests.semconv.build import event, span
from tests.semconv.recorded import ready_input
from tests.semconv.test_known_cases import OPTIONAL

ORDER = {"id": "path", "kind": "order", "tools": ["get_order", "refund"]}
DEAR = {"id": "cap", "kind": "each", "of": "call.tool == 'refund_order'", "assert": "call.input.amount < 1000.0"}
TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "refund"}


def statuses(spans: Sequence[Span], *checks: dict[str, Any]) -> list[str]:
    return [verdict.status for verdict in CheckSet.compile(list(checks)).grade(run_of(of_spans(spans)))]


def under_agent(**given: Any) -> list[Span]:
    """An agent and one tool span of it."""
    root = span({"gen_ai.operation.name": "invoke_agent"}, span_id="a" * 16, parent_span_id="", end_ns=9_000)
    return [root, span({**TOOL, **given.pop("attributes", {})}, parent_span_id="a" * 16, **given)]


@pytest.mark.parametrize(
    ("given", "status", "error"),
    [
        ({"status": (2, "no stock")}, "error", "no stock"),
        ({"status": (2, ""), "attributes": {"error.type": "timeout"}}, "error", "timeout"),
        ({"events": (event("exception", exception__type="E", exception__message="gone"),)}, "error", "gone"),
        ({"attributes": {"error.type": "timeout"}}, "error", "timeout"),
        ({}, "unset", ""),
        ({"status": (1, "")}, "ok", ""),
    ],
    ids=["status and text", "status and type", "event", "type", "nothing", "ok"],
)
def test_b107_b108_status_events_and_types_reach_the_lines(given: dict[str, Any], status: str, error: str) -> None:
    told = [line for line in run_of(of_spans(under_agent(**given))).lines if line.tool]
    assert (told[0].status, told[-1].status, told[-1].error) == (status, status, error)
    expected = {"error": "fail", "unset": "unknown", "ok": "pass"}
    check = {"id": "c", "kind": "each", "of": "call.tool == 'refund'", "assert": "call.ok"}
    assert statuses(under_agent(**given), check) == [expected[status]]


def test_b111_content_in_log_events_is_joined_and_without_it_nothing_is_known() -> None:
    whole, silent = run_of(of_capture("otel_openai_v2_events")), run_of(of_capture("otel_openai_v2_nocontent"))
    checks = CheckSet.compile([DEAR])
    assert [verdict.status for verdict in checks.grade(whole)] == ["pass"]
    assert [verdict.status for verdict in checks.grade(silent)] == ["unknown"]


@pytest.mark.parametrize("missing", OPTIONAL)
def test_b112_a_missing_field_fails_no_check_that_does_not_need_it(missing: str) -> None:
    """All spans without it, and one of them without it."""
    spans, _ = ready_input("I05")
    want = statuses(spans, ORDER)
    without = [_less(one, missing) for one in spans]
    assert statuses(without, ORDER) == want
    for place in range(len(spans)):
        assert statuses([*spans[:place], without[place], *spans[place + 1 :]], ORDER) == want


def _less(one: Span, missing: str) -> Span:
    fields = {name: getattr(one, name) for name in one.__struct_fields__}
    return Span(**{**fields, "attributes": {key: v for key, v in one.attributes.items() if key != missing}})
