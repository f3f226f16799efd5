"""Whatever a sender puts on a span or record, its facts are found or the span is kept without: nothing escapes."""

from __future__ import annotations

import time
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from semconv.dialects import BUILT_IN
from semconv.explain import explain, explain_log
from semconv.facts import Facts
from semconv.names import IDENTITY
from semconv.resolve import facts_of, facts_of_log
from semconv.span import Event, LogRecord, Span
from semconv.words import Words
from tests.semconv.build import log, span
from tests.semconv.recorded import CAPTURES, capture

WORDS = Words(group_by="session.id", task=["eval.task"])

SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text() | st.binary()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
)
JSONISH = st.sampled_from(
    [
        "[]",
        "{}",
        "null",
        '""',
        "[[[[",
        "[1]",
        '{"messages": 3}',
        '{"role": []}',
        '[{"role": "user", "parts": [3, null, {"type": {}}]}]',
        '[{"role": "tool", "content": {"content": [{"type": []}]}}]',
        '{"type": [], "value": {}}',
        '{"args": [], "kwargs": null}',
        '[{"tool_calls": [null, 3, {"function": 3}]}]',
        '{"response": {"responseParts": {"0": 3}}}',
    ]
)


def _sources() -> list[str]:
    """Every attribute any dialect reads, and every name that makes one match."""
    found: set[str] = {key for keys in IDENTITY.values() for key in keys}
    for dialect, _ in BUILT_IN:
        found |= {when.attribute for when in dialect.match if when.attribute}
        found |= set(dialect.operation.attributes) | set(dialect.operation.present)
        groups = [dialect.fields, dialect.tool, dialect.chat, dialect.agent, dialect.workflow]
        groups += [rule.fields for rule in dialect.logs.values()]
        for fields in groups:
            for name in fields.__struct_fields__:
                found |= {source.partition("#/")[0] for source in getattr(fields, name) if source[:1] not in "$="}
    return sorted(found)


SOURCES = _sources()
SCOPES = sorted({when.scope.rstrip("*") for dialect, _ in BUILT_IN for when in dialect.match if when.scope} | {""})
NAMES = sorted({name for dialect, _ in BUILT_IN for name in dialect.operation.names}) or [""]
OPERATIONS = sorted({value for dialect, _ in BUILT_IN for value in dialect.operation.values})
EVENTS = sorted({name for dialect, _ in BUILT_IN for name in dialect.logs} | {"exception"})

ATTRIBUTES = st.dictionaries(
    st.sampled_from(SOURCES)
    | st.builds("gen_ai.prompt.{}.{}".format, st.integers(-1, 10**12), st.sampled_from(["role", "content", "a.b.c"])),
    VALUES | JSONISH | st.sampled_from(OPERATIONS),
    max_size=12,
)
EVENT = st.builds(Event, st.sampled_from(EVENTS), st.integers(0, 2**64 - 1), ATTRIBUTES)


def _storable(facts: Facts) -> None:
    msgspec.json.decode(msgspec.json.encode(facts), type=Facts)


@settings(max_examples=250, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(ATTRIBUTES, st.sampled_from(SCOPES), st.sampled_from(NAMES), st.lists(EVENT, max_size=2), ATTRIBUTES)
def test_no_span_breaks_its_dialect(
    attributes: dict[str, Any], scope: str, name: str, events: list[Event], resource: dict[str, Any]
) -> None:
    one = span(attributes, scope=scope, name=name, events=tuple(events), resource=resource)
    facts = facts_of(one, WORDS)
    assert "dialect_error" not in facts.flags
    _storable(facts)
    explain(one, WORDS)


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(ATTRIBUTES, st.sampled_from(SCOPES), st.sampled_from(EVENTS), VALUES | JSONISH)
def test_no_log_record_breaks_its_dialect(attributes: dict[str, Any], scope: str, name: str, body: Any) -> None:
    one = log(attributes, scope=scope, event_name=name, body=body)
    facts = facts_of_log(one, WORDS)
    assert "dialect_error" not in facts.flags
    _storable(facts)
    explain_log(one, WORDS)


@pytest.mark.parametrize("name", CAPTURES)
def test_facts_of_real_telemetry_come_back_from_the_store_unchanged(name: str) -> None:
    spans, logs = capture(name)
    for facts in [*(facts_of(one, WORDS) for one in spans), *(facts_of_log(one, WORDS) for one in logs)]:
        assert msgspec.json.decode(msgspec.json.encode(facts), type=Facts) == facts


def _nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "attributes",
    [
        {"gen_ai.operation.name": "chat", "gen_ai.input.messages": "[" * 100_000 + "]" * 100_000},
        {"gen_ai.operation.name": "chat", "gen_ai.input.messages": _nested(500)},
        {"gen_ai.operation.name": "chat", "gen_ai.input.messages": '{"messages": [' * 900 + "]}" * 900},
        {"gen_ai.operation.name": "chat", "gen_ai.prompt." + ".".join(["0"] * 5_000): "x"},
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.arguments": "{'a': " * 5_000 + "1" + "}" * 5_000},
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.result": '{"a":' * 50_000 + "1" + "}" * 50_000},
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.arguments": '"' * 200_000},
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.arguments": "{" + "\\" * 200_000},
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.arguments": "{'" * 100_000},
        {"crewai.crew.tasks_output": "messages=[{" * 20_000, "gen_ai.operation.name": "invoke_agent"},
        {"gen_ai.tool.call.result": "<" + "redacted " * 50_000, "gen_ai.operation.name": "execute_tool"},
    ],
)
def test_deep_and_long_values_cost_little(attributes: dict[str, Any]) -> None:
    scope = "opentelemetry.instrumentation.crewai" if "crewai.crew.tasks_output" in attributes else "lib"
    one = span(attributes, scope=scope)
    started = time.perf_counter()
    _storable(facts_of(one, WORDS))
    assert time.perf_counter() - started < 2.0


def test_a_dialect_that_breaks_leaves_its_span_unmapped_and_flagged(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("a fault of ours")

    sent = {"gen_ai.operation.name": "execute_tool", "passhat.task.id": "t-1"}
    monkeypatch.setattr("semconv.resolve._add_call", broken)
    facts = facts_of(span(sent, status=(2, "no"), dropped_attributes=1), WORDS)
    assert facts.operation == ""
    assert "dialect_error" in facts.flags
    # What the contract relies on does not hang on a dialect.
    assert facts.own is not None
    assert (facts.own.task_id, facts.status, facts.lossy) == ("t-1", "error", ("dropped_attributes",))


def test_scope_names_are_not_remembered_without_bound() -> None:
    words = Words()
    for number in range(5_000):
        facts_of(span({}, scope=f"scope-{number}"), words)
    assert len(words.registry._scopes) <= 2_000


def test_the_cost_of_a_span_nobody_wants_is_a_few_microseconds() -> None:
    """A bound ten times what it is on a slow machine: it fails when a span costs a parse or an exception."""
    one = span({f"http.header.{number}": "x" for number in range(15)}, scope="http")
    facts_of(one, WORDS)
    best = min(_seconds(one) for _ in range(5))
    assert best / 1_000 < 50e-6


def _seconds(one: Span | LogRecord) -> float:
    started = time.perf_counter()
    for _ in range(1_000):
        facts_of(one, WORDS)  # type: ignore[arg-type]
    return time.perf_counter() - started
