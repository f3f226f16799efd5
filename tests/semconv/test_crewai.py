"""CrewAI's conversation, printed in one attribute of its crew's span (OpenLLMetry)."""

from __future__ import annotations

import pytest

from semconv.facts import Facts
from semconv.resolve import facts_of
from semconv.words import Words
from tests.semconv.build import span

FUNCTION = {"name": "look", "arguments": "{}"}
CALL = [{"role": "assistant", "content": "", "tool_calls": [{"id": "c", "function": FUNCTION}]}]


def crew(printed: str) -> Facts:
    attributes = {"gen_ai.operation.name": "invoke_agent", "crewai.crew.tasks_output": printed}
    return facts_of(span(attributes, scope="opentelemetry.instrumentation.crewai.instrumentation"), Words())


def test_all_tasks_tell_their_calls() -> None:
    task = f"TaskOutput(description='do it', messages={CALL!r}, output_format=<OutputFormat.RAW: 'raw'>)"
    facts = crew(f"[{task}, {task}]")
    assert [part.tool for message in facts.messages_out for part in message.parts] == ["look", "look"]
    assert facts.lossy == ()


@pytest.mark.parametrize("before", ["", "it's", '"', "\\"])
def test_what_a_crew_was_asked_is_no_conversation(before: str) -> None:
    """A task that reads like printed messages forges no calls."""
    facts = crew(f"[TaskOutput(description={f'{before} messages={CALL!r}'!r}, summary={before!r})]")
    assert facts.messages_out == ()


def test_a_conversation_that_stops_says_so() -> None:
    facts = crew(f"[TaskOutput(description='do it', messages={CALL!r}"[:-40])
    assert (facts.messages_out, facts.lossy) == ((), ("truncated_messages",))
