"""Spans that arrive in any order, assembled and graded after each: the last verdicts are those of the whole run, and an
early `fail` is never taken back."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from collector.assemble import assemble
from graders import CheckSet
from graders.defaults import ADVISORY, GATING
from semconv.facts import SpanFacts
from semconv.run import Run
from tests.collector.assemble.build import agent, asks, chat, tool

A, B = "call.tool == 'a'", "call.tool == 'b'"
CHECKS = CheckSet.compile(
    [
        *GATING,
        *ADVISORY,
        {"id": "absence", "kind": "absence", "of": A},
        {"id": "absence-arg", "kind": "absence", "of": f"{A} && call.input.k == 1"},
        {"id": "absence-error", "kind": "absence", "of": "call.error != ''"},
        {"id": "bounded", "kind": "bounded", "of": A, "at_most": 1},
        {"id": "bounded-per", "kind": "bounded", "of": A, "at_most": 1, "per": "call.input.k"},
        {"id": "repeats", "kind": "repeats", "at_most": 1},
        {"id": "precedence", "kind": "precedence", "first": A, "then": B},
        {"id": "response", "kind": "response", "trigger": A, "response": B},
        {"id": "order", "kind": "order", "tools": ["a", "b"]},
        {"id": "each", "kind": "each", "of": A, "assert": "call.input.k == 1"},
        {"id": "each-ok", "kind": "each", "assert": "call.ok"},
        {"id": "budget", "kind": "budget", "tool_calls": 2},
        {"id": "tokens", "kind": "budget", "tokens": 30},
        {"id": "turns", "kind": "budget", "turns": 1},
        {"id": "seconds", "kind": "budget", "seconds": 0.1},
        {"id": "absence-tag", "kind": "absence", "of": "edit"},
        {"id": "absence-agent", "kind": "absence", "of": "call.agent == 'helper'"},
        {"id": "absence-ok", "kind": "absence", "of": "call.ok"},
    ]
)
Said = dict[str, str]
_TOOLS: Any = st.sampled_from(["a", "b", "Edit"])
_ENDS: list[dict[str, Any]] = [{}, {"output": "done", "status": "ok"}, {"error": "no", "status": "error"}]


@st.composite
def _steps(draw: Any) -> list[SpanFacts]:
    """An agent, model calls that ask for tools, tool spans with and without the id of what asked for them; calls one
    below the other, as clients and servers of one call are, and a second agent below the first.

    Some calls are tried again under their id. Else spans of one call agree on how it went: one that says it failed
    where another has seen it work is believed when it comes, early or late.
    """
    tokens = st.sampled_from([None, 15, 40])
    ended = draw(st.sampled_from([1_000, 60]))
    spans = [
        agent(1, None, 0, ended, input_tokens=draw(tokens)),
        agent(2, 1, 400, 900, name="other", input_tokens=draw(tokens)),
    ]
    went: dict[tuple[str, int], dict[str, Any]] = {}
    for number in range(3, 3 + draw(st.integers(1, 6))):
        start, name, k = number * 20 + draw(st.sampled_from([0, 0, 450])), draw(_TOOLS), draw(st.integers(1, 2))
        if (name, k) not in went:
            went[name, k] = draw(st.sampled_from(_ENDS))
        told: dict[str, Any] = {"input": {"k": k}, **went[name, k]}
        parent = draw(st.sampled_from([1, 1, 2, *range(3, number)]))
        if draw(st.booleans()):
            told["call_id"] = f"c{draw(st.sampled_from([number, number, 3]))}"
            told |= draw(st.sampled_from(_ENDS)) if told["call_id"] == "c3" else {}
            said = (asks(told["call_id"], name, told["input"]),)
            spans.append(chat(100 + number, parent, start, start + 5, messages_out=said, input_tokens=draw(tokens)))
        spans.append(tool(number, parent, start + 6, start + 15, name, **told))
    return spans


def statuses(spans: list[SpanFacts], *, closed: bool) -> list[tuple[Run, Said]]:
    runs = assemble(spans, closed_by="root" if closed else "").runs
    return [(run, {verdict.check_id: verdict.status for verdict in CHECKS.grade(run)}) for run in runs]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_steps(), st.data())
def test_verdicts_on_the_way_are_those_of_the_whole_run(steps: list[SpanFacts], data: Any) -> None:
    ((_, batch),) = statuses(steps, closed=True)
    arrived: list[SpanFacts] = []
    early: set[str] = set()
    for span in data.draw(st.permutations(steps)):
        arrived.append(span)
        for run, said in statuses(arrived, closed=False):
            assert run.is_open
            assert set(said.values()) <= {"pending", "fail"}
            early |= {check_id for check_id, status in said.items() if status == "fail"}
    ((_, streamed),) = statuses(arrived, closed=True)
    assert streamed == batch
    event(f"{len(early)} early fails")
    assert {check_id: batch[check_id] for check_id in early} == dict.fromkeys(early, "fail")
