"""Any order and any repetition of what arrived gives the same runs, to the last byte."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from collector.assemble import Policy
from semconv.facts import Evaluation, Facts, Message, Part, SpanFacts
from semconv.run import Closing
from tests.collector.assemble.build import TRACE, assembly_of, bytes_of, log, own, span, span_id
from tests.collector.assemble.recorded import of_capture
from tests.semconv.recorded import CAPTURES

OTHER = "b7ad6b7169203331" * 2
SMALL = [name for name in CAPTURES if name not in ("codex_cli", "opencode")]

texts = st.sampled_from(["", "go", "yes", "done"])
ids = st.sampled_from(["", "call_0", "call_1"])
values = st.sampled_from([None, {}, {"city": "Oslo"}, {"city": "Rome", "n": 900.0}, "text"])
states = st.sampled_from(["object", "not_captured", "text", "truncated", "empty", ""])
tools = st.sampled_from(["", "search", "weather"])
statuses = st.sampled_from(["ok", "error", "unset"])
agents = st.sampled_from(["", "boss", "worker"])
identities = st.none() | st.builds(
    own,
    run_id=st.sampled_from(["", "", "r-1"]),
    task_id=st.sampled_from(["", "t"]),
    trial_id=st.sampled_from(["", "1", "2"]),
    outcome=st.sampled_from(["", "pass", "odd"]),
    run_end=st.booleans(),
)
parts = st.builds(
    Part,
    kind=st.sampled_from(["text", "tool_call", "tool_result", "reasoning"]),
    text=texts,
    call_id=ids,
    tool=tools,
    value=values,
    input_state=states,
    error=st.booleans(),
)
messages = st.lists(
    st.builds(
        Message,
        role=st.sampled_from(["system", "user", "assistant", "tool"]),
        parts=st.lists(parts, max_size=3).map(tuple),
    ),
    max_size=4,
).map(tuple)
facts = st.builds(
    Facts,
    operation=st.sampled_from(["agent", "chat", "tool", "workflow", "other", ""]),
    own=identities,
    resource=identities,
    join_keys=st.sampled_from([(), ("session.id=s",)]),
    agent=agents,
    tool=tools,
    call_id=ids,
    input=values,
    input_state=states,
    output=values,
    status=statuses,
    response_id=st.sampled_from(["", "resp"]),
    model=st.sampled_from(["", "gpt-4o-mini"]),
    input_tokens=st.none() | st.integers(0, 100),
    messages_in=messages,
    messages_out=messages,
    final_text=texts,
    evaluations=st.sampled_from([(), (Evaluation("outcome", label="pass"),)]),
    flags=st.sampled_from([(), ("server_side",)]),
    attempt=st.sampled_from(["", "", "p"]),
    boundary=st.sampled_from(["", "start", "end"]),
    sequence=st.none() | st.integers(0, 2),
)


@st.composite
def units(draw: st.DrawFn) -> list[SpanFacts]:
    """Spans with any parents (their own, none, a cycle), on two traces, and log records, at few different times."""
    found: list[SpanFacts] = []
    count = draw(st.integers(1, 9))
    for number in range(1, count + 1):
        header: dict[str, Any] = {"trace_id": draw(st.sampled_from([TRACE, TRACE, OTHER]))}
        parent = draw(st.none() | st.integers(1, count + 1))
        start = draw(st.integers(0, 4))
        found.append(span(number, parent, start, start + draw(st.integers(-1, 4)), draw(facts), **header))
    for number in range(draw(st.integers(0, 4))):
        header = {"trace_id": draw(st.sampled_from(["", TRACE])), "name": f"record {number}"}
        if header["trace_id"]:
            header["span_id"] = draw(st.sampled_from(["", span_id(1), span_id(99)]))
        found.append(log(draw(st.integers(0, 4)), draw(facts), **header))
    return found


@settings(max_examples=120, deadline=None)
@given(units(), st.data())
def test_any_order_and_repetition(unit: list[SpanFacts], data: st.DataObject) -> None:
    expected = bytes_of(unit)
    repeated = [*unit, *data.draw(st.lists(st.sampled_from(unit), max_size=5))]
    assert bytes_of(data.draw(st.permutations(repeated))) == expected


@settings(max_examples=60, deadline=None)
@given(units(), st.data())
def test_whatever_is_asked_of_it(unit: list[SpanFacts], data: st.DataObject) -> None:
    options: dict[str, Any] = {
        "closed_by": data.draw(st.sampled_from(["", "root", "end", "idle", "max_age"])),
        "policy": Policy(group_by="session.id"),
        "closures": {"r-1": Closing(unit[0].start_ns), TRACE: Closing(unit[0].start_ns)},
    }
    assert bytes_of(unit[::-1], **options) == bytes_of(unit, **options)


@settings(max_examples=120, deadline=None)
@given(units())
def test_every_unit_is_sound(unit: list[SpanFacts]) -> None:
    """Lines are numbered, results follow their calls, no step is in two runs or lost."""
    assembly = assembly_of(unit)
    seen: set[tuple[str, str]] = set()
    for run in assembly.runs:
        assert [line.n for line in run.lines] == list(range(1, len(run.lines) + 1))
        assert {line.run_id for line in run.lines} <= {run.run_id}
        assert run.tool_calls == sum(line.role == "assistant" and line.tool != "" for line in run.lines)
        assert all(line.start_ns <= line.end_ns for line in run.lines if line.role != "result")
        assert [line.role for line in run.lines].count("result") <= 1
        asked: list[str] = []
        for line in run.lines:
            if line.role == "assistant":
                asked.append(line.call_id)
            if line.role == "tool":
                assert line.call_id in asked
    assert len({run.run_id for run in assembly.runs}) == len(assembly.runs)
    seen.update((one.trace_id, one.span_id) for one in assembly.unassigned)
    assert len(seen) == len(assembly.unassigned) or any(one.signal == "log" for one in assembly.unassigned)


@settings(max_examples=60, deadline=None)
@given(units(), st.data())
def test_the_newest_version_of_a_span_counts_wherever_it_comes(unit: list[SpanFacts], data: st.DataObject) -> None:
    newer = [replace(one, received_ns=2, facts=data.draw(facts)) for one in unit if one.signal == "span"]
    older = [replace(one, received_ns=1) for one in unit if one.signal == "span"]
    logs = [one for one in unit if one.signal == "log"]
    assert bytes_of(data.draw(st.permutations([*newer, *older, *logs]))) == bytes_of([*newer, *logs])


@pytest.mark.parametrize("name", SMALL)
def test_recorded_emitters_in_other_orders(name: str) -> None:
    unit = list(of_capture(name))
    expected = bytes_of(unit)
    assert bytes_of(unit[::-1]) == expected
    assert bytes_of([*unit[1::2], *unit[::2], *unit[: len(unit) // 2]]) == expected
