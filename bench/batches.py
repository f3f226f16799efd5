"""Pre-built OTLP export requests of agent runs, about 0.9 kB a span, every trace new."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

CALLS = 7  # a run is its agent span and seven pairs of a model call and a tool call: 15 spans
TEMPLATES = 20
TASKS = 50
SECOND_NS = 1_000_000_000

Attributes = dict[str, str | int]

_SOURCE = "def total(lines):\n    return round(sum(line.amount for line in lines), 2)\n"
ASKED = (
    '[{"role": "system", "parts": [{"type": "text", "content": "You fix bugs in a small Python project. '
    'Read before you edit, run the tests after the last edit, and never change a test."}]}, {"role": "user", '
    '"parts": [{"type": "text", "content": "Fix the rounding bug in invoice totals: the sum of the lines differs '
    'from the total by a cent."}]}]'
)


class Request:
    """One request: its bytes, the spans in it."""

    __slots__ = ("payload", "spans")

    def __init__(self, payload: bytes, spans: int) -> None:
        self.payload = payload
        self.spans = spans


def requests(spans: int, runs: int = 34, calls: int = CALLS) -> Iterator[Request]:
    """At least `spans` spans in requests of `runs` runs each (510 spans: what batch processors send by default).

    A few templates are built once; each request is one of them with fresh trace ids, put in as bytes. Span ids need
    only be unique in their trace.
    """
    size = runs * (1 + 2 * calls)
    templates = [_template(number, runs, calls) for number in range(TEMPLATES)]
    for number in range(-(-spans // size)):
        payload, trace_ids = templates[number % TEMPLATES]
        for trace_id in trace_ids:
            payload = payload.replace(trace_id, os.urandom(16))
        yield Request(payload, size)


def _template(number: int, runs: int, calls: int) -> tuple[bytes, list[bytes]]:
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    group.resource.attributes.extend(_pairs({"service.name": "bench-agent", "service.version": "1.4.0"}))
    scoped = group.scope_spans.add()
    scoped.scope.name = "bench"
    trace_ids = [os.urandom(16) for _ in range(runs)]
    for index, trace_id in enumerate(trace_ids):
        scoped.spans.extend(_run(trace_id, f"task-{(number * runs + index) % TASKS}", calls))
    return request.SerializeToString(), trace_ids


def _run(trace_id: bytes, task: str, calls: int) -> list[Span]:
    """One run of a coding agent: it reads, edits and runs the tests until they are green."""
    end = time.time_ns()
    start = end - 2 * calls * SECOND_NS
    agent: Attributes = {
        "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "coder", "passhat.task.id": task,
        "passhat.outcome": "pass" if os.urandom(1)[0] < 200 else "fail",
    }  # fmt: skip
    spans = [_span(trace_id, 1, b"", "invoke_agent coder", (start, end), agent)]
    for turn in range(calls):
        at = start + 2 * turn * SECOND_NS
        chat = _chat(turn)
        spans.append(_span(trace_id, 2 + 2 * turn, _id(1), "chat gpt-5", (at, at + SECOND_NS), chat))
        tool = _tool(turn)
        name = f"execute_tool {tool['gen_ai.tool.name']}"
        spans.append(_span(trace_id, 3 + 2 * turn, _id(1), name, (at + SECOND_NS, at + 2 * SECOND_NS), tool))
    return spans


def _chat(turn: int) -> Attributes:
    tool = _tool(turn)
    said = (
        '[{"role": "assistant", "parts": [{"type": "text", "content": "Step '
        f'{turn}: the totals are rounded line by line, so the sum is off; look at the source again."}}, '
        f'{{"type": "tool_call", "id": "{tool["gen_ai.tool.call.id"]}", "name": "{tool["gen_ai.tool.name"]}"}}], '
        '"finish_reason": "tool_call"}]'
    )
    return {
        "gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-5",
        "gen_ai.response.model": "gpt-5-2025-08-07", "gen_ai.response.id": f"resp_{os.urandom(8).hex()}",
        "gen_ai.usage.input_tokens": 2400 + turn, "gen_ai.usage.output_tokens": 180,
        "server.address": "api.example.com",
        "gen_ai.input.messages": ASKED, "gen_ai.output.messages": said, "gen_ai.conversation.id": "conversation",
    }  # fmt: skip


def _tool(turn: int) -> Attributes:
    names = ("Read", "Edit", "Bash")
    arguments = (
        f'{{"file_path": "src/invoice.py", "offset": {turn}}}',
        f'{{"file_path": "src/invoice.py", "old_string": "round(x)", "new_string": "round(x, {turn})"}}',
        f'{{"command": "uv run pytest -q tests/test_invoice.py", "timeout": {60 + turn}}}',
    )
    results = (_SOURCE * 4, "The file src/invoice.py has been updated.\n" + _SOURCE, "42 passed in 1.31s\n" * 8)
    kind = turn % 3
    return {
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": names[kind], "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": f"call_{turn}_{kind:016x}", "gen_ai.tool.call.arguments": arguments[kind],
        "gen_ai.tool.call.result": results[kind], "gen_ai.tool.description": "A tool of the coding agent. " * 6,
    }  # fmt: skip


def _span(
    trace_id: bytes, number: int, parent: bytes, name: str, times: tuple[int, int], attributes: Attributes
) -> Span:
    return Span(
        trace_id=trace_id,
        span_id=_id(number),
        parent_span_id=parent,
        name=name,
        kind=Span.SPAN_KIND_INTERNAL,
        start_time_unix_nano=times[0],
        end_time_unix_nano=times[1],
        attributes=_pairs(attributes),
        status=Status(code=Status.STATUS_CODE_OK),
    )


def _id(number: int) -> bytes:
    return b"bench" + number.to_bytes(3, "big")


def _pairs(attributes: Attributes) -> list[KeyValue]:
    return [
        KeyValue(key=key, value=AnyValue(int_value=value) if isinstance(value, int) else AnyValue(string_value=value))
        for key, value in attributes.items()
    ]
