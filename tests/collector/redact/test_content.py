"""`redact.content: off` on every recorded emitter: no text is left, and the calls are still there."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.assemble import assemble
from collector.config import load
from collector.normalise.unpack import logs_of, spans_of
from collector.redact import Marks
from collector.redact.configured import content_of
from collector.redact.content import Content
from semconv.facts import CUT_MESSAGES
from semconv.run import Run
from tests.collector.assemble.recorded import of_logs, of_spans
from tests.collector.receive.build import log, logs, span, traces
from tests.collector.redact.build import KEY
from tests.semconv.recorded import CAPTURES, TESTS, payload_of

# Emitters that tell of one call twice without an id: only its arguments said that it was the same.
TOLD_TWICE = {
    "gemini_cli": "its logs name a call by arguments",
    "logfire_openai_agents": "messages and spans without a common id",
    "mlflow_langgraph": "messages inside printed objects",
    "openinference_smolagents": "the tool `final_answer` is known by its argument",
    "openllmetry_mcp": "client and server spans without an id",
    "pydantic_ai_v1_ver1": "messages and spans without a common id",
    "strands_default": "messages are span events without ids",
}
# Emitters whose calls stand in a printed text alone: without it there are none, and their absence proves nothing.
PRINTED = ("openllmetry_crewai",)
# What the recorded users and tools said.
SAID = (b"A-1001", b"Paris", b"cloudy", b"refunded", b"delivered", b"exceeds", b"assert total", b"def total")


@cache
def content() -> Content:
    return content_of(load(env={}), Marks(KEY))


def dropped(name: str) -> tuple[list[Run], list[Run], bytes]:
    """The runs of a capture as recorded, the same without content, and the bytes of those."""
    kept: list[Any] = []
    before: list[Any] = []
    left = b""
    for file in sorted((TESTS / "captures" / name).glob("[0-9]*_*")):
        if file.name.endswith(".meta.json") or not ("_traces." in file.name or "_logs." in file.name):
            continue
        payload = file.read_bytes() if file.suffix != ".json" else payload_of(json.loads(file.read_bytes()))
        traces_ = "_traces." in file.name
        request = (ExportTraceServiceRequest if traces_ else ExportLogsServiceRequest).FromString(payload)
        content().drop(request, "traces" if traces_ else "logs")
        without = request.SerializeToString()
        left += without
        before += of_spans(spans_of(payload)) if traces_ else of_logs(logs_of(payload))
        kept += of_spans(spans_of(without)) if traces_ else of_logs(logs_of(without))
    return list(assemble(before, closed_by="root").runs), list(assemble(kept, closed_by="root").runs), left


def calls(runs: list[Run]) -> list[list[str]]:
    return [[line.tool for line in run.lines if line.role == "assistant" and line.tool] for run in runs]


@pytest.mark.parametrize("name", CAPTURES)
def test_no_content_is_left_of_a_recorded_agent_and_its_calls_are(name: str) -> None:
    before, after, left = dropped(name)
    assert [word for word in SAID if word in left] == []
    lines = [line for run in after for line in run.lines]
    assert {line.input_state for line in lines if line.role == "assistant" and line.tool} <= {"not_captured"}
    assert [run.run_id for run in after] == [run.run_id for run in before]
    assert [run.task_id for run in after] == [run.task_id for run in before]
    if name in PRINTED:
        assert all(CUT_MESSAGES in run.lossy and not any(line.tool for line in run.lines) for run in after)
    elif name not in TOLD_TWICE:
        assert calls(after) == calls(before)


def test_the_exceptions_are_still_needed() -> None:
    assert [name for name in TOLD_TWICE if calls(dropped(name)[0]) == calls(dropped(name)[1])] == []


def test_numbers_names_ids_and_statuses_stay() -> None:
    values = {
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "refund", "gen_ai.tool.call.id": "c1",
        "gen_ai.usage.input_tokens": 12, "error.type": "timeout", "passhat.task.id": "t1",
    }  # fmt: skip
    request = traces(span(1, {**values, "gen_ai.tool.call.arguments": '{"amount": 12.5}', "note": "a text"}))
    assert content().drop(request, "traces") == 2
    assert request.resource_spans[0].scope_spans[0].spans[0] == span(1, values)


def test_a_message_keeps_its_shape_and_its_text_becomes_a_mark() -> None:
    said = [
        {"role": "user", "parts": [{"type": "text", "content": "hello"}]},
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "t", "arguments": {"a": "b"}}]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c", "result": "secret text"}]},
    ]
    request = traces(span(1, {"gen_ai.input.messages": json.dumps(said)}))
    content().drop(request, "traces")
    kept = json.loads(request.resource_spans[0].scope_spans[0].spans[0].attributes[0].value.string_value)
    mark = kept[0]["parts"][0].pop("content")
    assert mark.startswith("[redacted:content:")
    assert kept == [
        {"role": "user", "parts": [{"type": "text"}]},
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "t"}]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c"}]},
    ]


def test_a_log_keeps_the_name_of_its_event_only() -> None:
    request = logs(log("claude_code.user_prompt", {"prompt_length": 5}), log("a free text"), log({"content": "text"}))
    assert content().drop(request, "logs") == 2
    bodies = [record.body.string_value for record in request.resource_logs[0].scope_logs[0].log_records]
    assert bodies == ["claude_code.user_prompt", "", ""]
