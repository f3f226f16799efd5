"""Tool spans, a table of conventions: old and new names of one fact give one fact."""

from __future__ import annotations

from typing import Any

import pytest

from semconv.facts import Facts
from semconv.resolve import facts_of
from semconv.words import Words
from tests.semconv.build import event, span

WORDS = Words()
CALL = {"tool": "refund", "input": {"order": "A"}, "input_state": "object", "output": {"ok": True}}
JSON_IN, JSON_OUT = '{"order": "A"}', '{"ok": true}'

# dialect, what is sent, what must be found
TOOLS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    (
        "otel_genai",
        {
            "attributes": {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "refund",
                "gen_ai.tool.call.id": "c-1",
                "gen_ai.tool.call.arguments": {"order": "A"},
                "gen_ai.tool.call.result": {"ok": True},
                "gen_ai.agent.name": "shop",
                "gen_ai.conversation.id": "conv",
            }
        },
        {**CALL, "call_id": "c-1", "agent": "shop", "conversation_id": "conv"},
    ),
    (
        "otel_genai",
        {
            "name": "execute_tool refund",
            "attributes": {"gen_ai.system": "x", "gen_ai.tool.call.arguments": JSON_IN},
            "events": (event("tool.output", output=JSON_OUT),),
        },
        CALL,
    ),
    (
        "pydantic-ai",
        {
            "scope": "pydantic-ai",
            "name": "running tool",
            "attributes": {"gen_ai.tool.name": "refund", "tool_arguments": JSON_IN, "tool_response": JSON_OUT},
        },
        CALL,
    ),
    (
        "openinference",
        {
            "name": "SimpleTool",
            "attributes": {
                "openinference.span.kind": "TOOL",
                "tool.name": "refund",
                "tool.id": "c-1",
                "tool.parameters": '{"type": "object"}',
                "input.value": '{"args": [], "kwargs": {"order": "A"}}',
                "output.value": '{"type": "tool", "data": {"content": "{\\"ok\\": true}", "tool_call_id": "c-2"}}',
            },
        },
        {**CALL, "call_id": "c-1"},
    ),
    (
        "openinference",
        {"name": "refund", "attributes": {"openinference.span.kind": "TOOL"}},
        {"tool": "refund", "input": None, "input_state": "not_captured", "output": None},
    ),
    (
        "traceloop",
        {
            "name": "refund.tool",
            "attributes": {
                "traceloop.span.kind": "tool",
                "traceloop.entity.name": "refund",
                "traceloop.entity.input": '{"args": [], "kwargs": {"order": "A"}}',
                "traceloop.entity.output": '"{\\"ok\\": true}"',
                "traceloop.association.properties.session_id": "s-1",
            },
        },
        {**CALL, "conversation_id": "s-1"},
    ),
    (
        "traceloop",
        {
            "attributes": {
                "traceloop.span.kind": "tool",
                "gen_ai.tool.name": "refund",
                "gen_ai.tool.call.arguments": '{"input_str": "{\'order\': \'A\'}", "tags": []}',
                "gen_ai.tool.call.result": '{"output": {"lc": 1, "kwargs": {"content": "{\\"ok\\": true}",'
                ' "tool_call_id": "c-1", "status": "success", "type": "tool"}}}',
            }
        },
        {**CALL, "input_state": "decoded", "call_id": "c-1"},
    ),
    (
        "traceloop",
        {
            "attributes": {
                "traceloop.span.kind": "tool",
                "traceloop.entity.name": "refund",
                "traceloop.entity.input": '{"tool_name": "refund", "arguments": {"order": "A"}}',
                "traceloop.entity.output": '{"result": "{\\"ok\\": true}"}',
            }
        },
        CALL,
    ),
    (
        "ai_sdk",
        {
            "scope": "ai",
            "attributes": {
                "ai.operationId": "ai.toolCall",
                "ai.toolCall.name": "refund",
                "ai.toolCall.id": "c-1",
                "ai.toolCall.args": JSON_IN,
                "ai.toolCall.result": JSON_OUT,
            },
        },
        {**CALL, "call_id": "c-1"},
    ),
    (
        "opencode",
        {
            "scope": "opencode",
            "name": "ai.toolCall",
            "attributes": {
                "ai.operationId": "ai.toolCall",
                "ai.toolCall.name": "bash",
                "ai.toolCall.args": '{"command": "false"}',
                "ai.toolCall.result": '{"title": "t", "metadata": {"exit": 1}, "output": "no"}',
            },
        },
        {"tool": "bash", "output": "no", "status": "error", "flags": ("error_from:exit_code",)},
    ),
    (
        "langfuse",
        {
            "name": "refund",
            "attributes": {
                "langfuse.observation.type": "tool",
                "langfuse.observation.input": JSON_IN,
                "langfuse.observation.output": "no stock",
                "langfuse.observation.level": "ERROR",
                "langfuse.observation.status_message": "no stock left",
                "langfuse.observation.metadata.tool_call_id": '"c-1"',
                "session.id": "s-1",
            },
        },
        {
            "tool": "refund",
            "input": {"order": "A"},
            "call_id": "c-1",
            "status": "error",
            "error": "no stock left",
            "conversation_id": "s-1",
        },
    ),
    (
        "langsmith",
        {
            "name": "refund",
            "attributes": {
                "langsmith.span.kind": "tool",
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.prompt": '{"input": {"order": "A"}}',
                "gen_ai.completion": '{"output": "{\\"ok\\": true}"}',
                "langsmith.metadata.thread_id": "s-1",
            },
            "status": (1, ""),
        },
        {**CALL, "status": "ok", "conversation_id": "s-1"},
    ),
    (
        "langsmith",
        {
            "name": "refund",
            "attributes": {"langsmith.span.kind": "tool", "gen_ai.completion": '{"error": "no stock"}'},
            "status": (1, ""),
        },
        {"output": "no stock", "status": "error", "error": "no stock"},
    ),
    (
        "mlflow",
        {
            "name": "refund",
            "attributes": {
                "mlflow.spanType": '"TOOL"',
                "mlflow.spanInputs": JSON_IN,
                "mlflow.spanOutputs": '{"content": "{\\"ok\\": true}", "type": "tool", "name": "refund",'
                ' "tool_call_id": "c-1", "status": "success"}',
            },
        },
        {**CALL, "call_id": "c-1"},
    ),
    (
        "laminar",
        {
            "name": "refund",
            "attributes": {"lmnr.span.type": "TOOL", "lmnr.span.input": JSON_IN, "lmnr.span.output": JSON_OUT},
        },
        CALL,
    ),
    (
        "google_adk",
        {
            "scope": "gcp.vertex.agent",
            "name": "execute_tool refund",
            "attributes": {
                "gen_ai.system": "gcp.vertex.agent",
                "gen_ai.tool.name": "refund",
                "gcp.vertex.agent.tool_call_args": JSON_IN,
                "gcp.vertex.agent.tool_response": JSON_OUT,
                "gcp.vertex.agent.session_id": "s-1",
            },
        },
        {**CALL, "conversation_id": "s-1"},
    ),
    (
        "strands",
        {
            "scope": "strands.telemetry.tracer",
            "attributes": {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "refund"},
            "events": (
                event("gen_ai.tool.message", role="tool", content=JSON_IN, id="c-1"),
                event("gen_ai.choice", message='[{"text": "{\\"ok\\": true}"}]', id="c-1"),
            ),
        },
        CALL,
    ),
    (
        "logfire_openai_agents",
        {
            "scope": "logfire.openai_agents",
            "name": "Function: {name}",
            "attributes": {"name": "refund", "input": JSON_IN, "output": JSON_OUT, "error": "null"},
        },
        {**CALL, "status": "unset"},
    ),
    (
        "logfire_openai_agents",
        {
            "scope": "logfire.openai_agents",
            "name": "Function: {name}",
            "attributes": {"name": "refund", "error": '{"message": "Error running tool", "data": {}}'},
        },
        {"status": "error", "error": "Error running tool"},
    ),
    (
        "mastra",
        {
            "attributes": {
                "mastra.span.type": "tool_call",
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "refund",
                "gen_ai.tool.call.arguments": JSON_IN,
                "gen_ai.tool.call.result": JSON_OUT,
                "mastra.metadata.sessionId": "s-1",
            }
        },
        {**CALL, "conversation_id": "s-1"},
    ),
    (
        "agentops",
        {
            "name": "refund.tool",
            "attributes": {
                "agentops.span.kind": "tool",
                "agentops.tool.input": '{"args": [], "kwargs": {"order": "A"}}',
                "agentops.tool.output": JSON_OUT,
            },
        },
        CALL,
    ),
    (
        "mcp",
        {
            "name": "tools/call refund",
            "attributes": {"mcp.method.name": "tools/call", "fastmcp.server.name": "shop", "error.type": "tool_error"},
        },
        {"tool": "refund", "server": "shop", "status": "error", "error_type": "tool_error", "output": None},
    ),
    (
        "copilot",
        {
            "scope": "github.copilot",
            "attributes": {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "bash",
                "gen_ai.tool.call.result": "1 failed",
                "process.exit.code": 1,
            },
        },
        {"tool": "bash", "status": "error", "error": "1 failed", "flags": ("error_from:exit_code",)},
    ),
    (
        "claude_code",
        {
            "scope": "com.anthropic.claude_code.tracing",
            "name": "claude_code.tool",
            "attributes": {
                "span.type": "tool",
                "tool_name": "Bash",
                "tool_use_id": "c-1",
                "full_command": "pytest -q",
            },
            "events": (event("tool.output", bash_command="pytest -q", output="1 passed"),),
        },
        {
            "tool": "Bash",
            "call_id": "c-1",
            "input": {"command": "pytest -q"},
            "input_state": "object",
            "output": "1 passed",
        },
    ),
    (
        "claude_code",
        {
            "scope": "com.anthropic.claude_code.tracing",
            "name": "claude_code.tool",
            "attributes": {"span.type": "tool", "tool_name": "Edit", "file_path": "/a.py"},
        },
        {"input": {"file_path": "/a.py"}, "input_state": "truncated", "flags": ("partial_input",)},
    ),
    (
        "claude_code",
        {
            "scope": "com.anthropic.claude_code.tracing",
            "name": "claude_code.tool.execution",
            "attributes": {"span.type": "tool.execution", "tool_use_id": "c-1", "success": False, "error": "failed"},
        },
        {"tool": "", "call_id": "c-1", "status": "error", "error": "failed"},
    ),
    (
        "gemini_cli",
        {
            "scope": "gemini-cli",
            "attributes": {
                "gen_ai.operation.name": "tool_call",
                "gen_ai.tool.name": "replace",
                "gen_ai.tool.call_id": "c-1",
                "gen_ai.conversation.id": "s-1",
                "gen_ai.input.messages": '{"callId": "c-1", "args": {"order": "A"}, "prompt_id": "p-1"}',
                "gen_ai.output.messages": '{"status": "error", "response": {"errorType": "edit_no_occurrence_found",'
                ' "responseParts": [{"functionResponse": {"response": {"error": "no match"}}}]}}',
            },
            "status": (1, ""),
        },
        {
            "tool": "replace",
            "call_id": "c-1",
            "input": {"order": "A"},
            "output": "no match",
            "status": "error",
            "error_type": "edit_no_occurrence_found",
            "attempt": "p-1",
            "join_keys": ("gemini_cli=s-1",),
        },
    ),
    (
        "qwen_code",
        {
            "scope": "qwen-code",
            "attributes": {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "read_file",
                "gen_ai.tool.call.arguments": JSON_IN,
                "gen_ai.tool.call.result": '{"output": "text"}',
                "success": True,
            },
        },
        {"tool": "read_file", "input": {"order": "A"}, "output": "text", "status": "ok", "agent": "qwen-code"},
    ),
]


def read(given: dict[str, Any]) -> Facts:
    given = dict(given)
    return facts_of(span(given.pop("attributes", {}), **given), WORDS)


@pytest.mark.parametrize(("dialect", "given", "expected"), TOOLS)
def test_a_call_in_each_convention(dialect: str, given: dict[str, Any], expected: dict[str, Any]) -> None:
    facts = read(given)
    assert (facts.dialect, facts.operation) == (dialect, "tool")
    assert {field: getattr(facts, field) for field in expected} == expected
