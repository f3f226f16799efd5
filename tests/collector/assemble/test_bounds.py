"""Units of any size and shape are assembled in time that grows with them, without recursion."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from itertools import count

import pytest

from semconv.facts import Facts, Message, SpanFacts
from tests.collector.assemble.build import (
    TRACE,
    agent,
    asks,
    assembly_of,
    call,
    chat,
    gives,
    log,
    own,
    says,
    span,
    span_id,
    tool,
)

DEADLINE_S = 20.0
OSLO = {"city": "Oslo"}


def nested_agents() -> list[SpanFacts]:
    """20,000 agents, each inside the one before, each with a prompt and an answer of its own."""
    told = {"messages_in": (says("user", "go"),), "messages_out": (says("assistant", "gone"),)}
    return [agent(n, n - 1 if n > 1 else None, n / 100, 1000, name=f"a{n}", **told) for n in range(1, 20_001)]


def nested_workers() -> list[SpanFacts]:
    """10,000 agents, each called as a tool by the one before."""
    spans: list[SpanFacts] = [agent(1, None, 0, 1e6)]
    above = 1
    for n in range(2, 30_000, 3):
        spans.append(chat(n, above, n, n + 0.5, messages_out=(asks("c", "ask", OSLO),)))
        spans.append(tool(n + 1, above, n + 0.6, 1e6, "ask", call_id="c", input=OSLO))
        spans.append(agent(n + 2, n + 1, n + 0.7, 1e6, name=f"a{n}"))
        above = n + 2
    return spans


def alternating_runs() -> list[SpanFacts]:
    """A chain of 20,000 spans that belong by turns to one run and another."""
    chain = range(1, 20_001)
    return [tool(n, n - 1 if n > 1 else None, n / 100, 1000, own=own(run_id=f"r{n % 2}")) for n in chain]


def long_conversation() -> list[SpanFacts]:
    """400 requests, each with all of the history: 160,000 messages."""
    history: list[Message] = [says("system", "Be brief."), says("user", "go")]
    spans: list[SpanFacts] = [agent(1, None, 0, 1e6)]
    for turn in range(400):
        request = asks(f"c{turn}", "go", {"turn": turn})
        at = 10 + turn * 10
        spans.append(chat(10 + turn, 1, at, at + 4, messages_in=tuple(history), messages_out=(request,)))
        spans.append(tool(1000 + turn, 1, at + 5, at + 8, "go", call_id=f"c{turn}", input={"turn": turn}, output=turn))
        history += [request, gives(f"c{turn}", turn)]
    return spans


def one_big_message() -> list[SpanFacts]:
    """20,000 equal calls asked for at once, carried out without ids."""
    request = Message("assistant", tuple(call(f"c{n}", "go", OSLO) for n in range(20_000)))
    done = [tool(n, 1, 10, 20, "go", input=OSLO, output=n) for n in range(3, 20_003)]
    return [agent(1, None, 0, 99), chat(2, 1, 1, 5, messages_out=(request,)), *done]


def clients_and_servers() -> list[SpanFacts]:
    """10,000 calls at once of one tool, each with its server's side."""
    spans: list[SpanFacts] = [agent(1, None, 0, 1e6)]
    for n in range(2, 10_002):
        spans.append(tool(n, 1, n / 100, 1e5 + n, "go", input={"n": n}))
        spans.append(tool(100_000 + n, 1, n / 100 + 0.005, 9e4, "go", input={"n": n}, flags=("server_side",)))
    return spans


def many_records() -> list[SpanFacts]:
    """100,000 log records of one attempt."""
    known = {"operation": "tool", "attempt": "p", "status": "ok", "tool": "Bash"}
    return [log(n / 100, Facts(call_id=f"c{n}", **known)) for n in range(100_000)]  # type: ignore[arg-type]


def many_trials() -> list[SpanFacts]:
    """20,000 trials under one root, each with a record of its own."""
    spans: list[SpanFacts] = [span(1, None, 0, 1e6)]
    number = count(10)
    for trial in range(20_000):
        top = next(number)
        spans.append(agent(top, 1, trial, trial + 1, own=own(task_id="t", trial_id=str(trial))))
        spans.append(tool(next(number), top, trial + 0.1, trial + 0.2))
        spans.append(log(trial + 0.3, Facts(operation="other"), trace_id=TRACE, span_id=span_id(top)))
    return spans


@pytest.mark.parametrize(
    ("unit", "runs", "calls"),
    [
        (nested_agents, 1, 0),
        (nested_workers, 1, 10_000),
        (alternating_runs, 2, 20_000),
        (long_conversation, 1, 400),
        (one_big_message, 1, 20_000),
        (clients_and_servers, 1, 10_000),
        (many_records, 1, 100_000),
        (many_trials, 20_000, 20_000),
    ],
)
def test_units_of_any_shape_are_assembled_in_seconds(
    unit: Callable[[], list[SpanFacts]], runs: int, calls: int
) -> None:
    facts = unit()
    random.Random(7).shuffle(facts)
    began = time.process_time()
    assembly = assembly_of(facts)
    assert time.process_time() - began < DEADLINE_S
    assert (len(assembly.runs), sum(run.tool_calls for run in assembly.runs)) == (runs, calls)
