"""What a span is in each convention, and that specific evidence beats general."""

from __future__ import annotations

from typing import Any

import pytest

from semconv.dialects import BUILT_IN
from semconv.resolve import facts_of
from semconv.words import Words
from tests.semconv.build import span

WORDS = Words()

# what is sent, dialect, operation, agent: which spans are agents, model calls, wrappers, noise
OPERATIONS: list[tuple[dict[str, Any], str, str, str]] = [
    ({"attributes": {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a"}}, "otel_genai", "agent", "a"),
    ({"name": "invoke_agent a", "attributes": {"gen_ai.operation.name": "invoke_agent"}}, "otel_genai", "agent", "a"),
    (
        {"name": "invoke_workflow w", "attributes": {"gen_ai.operation.name": "invoke_workflow"}},
        "otel_genai",
        "workflow",
        "w",
    ),
    ({"attributes": {"gen_ai.operation.name": "create_agent"}}, "otel_genai", "create_agent", ""),
    ({"attributes": {"gen_ai.operation.name": "text_completion"}}, "otel_genai", "chat", ""),
    ({"attributes": {"gen_ai.operation.name": "embeddings"}}, "otel_genai", "other", ""),
    ({"attributes": {"gen_ai.operation.name": "plan"}}, "otel_genai", "other", ""),
    ({"attributes": {"gen_ai.system": "openai", "gen_ai.request.model": "m"}}, "otel_genai", "chat", ""),
    ({"attributes": {"gen_ai.system": "openai"}}, "otel_genai", "other", ""),
    ({"scope": "pydantic-ai", "name": "agent run", "attributes": {"agent_name": "a"}}, "pydantic-ai", "agent", "a"),
    ({"attributes": {"openinference.span.kind": "CHAIN"}}, "openinference", "other", ""),
    ({"attributes": {"openinference.span.kind": "AGENT", "agent.name": "a"}}, "openinference", "agent", "a"),
    ({"name": "a.run", "attributes": {"openinference.span.kind": "AGENT"}}, "openinference", "agent", "a"),
    (
        {
            "name": "Crew_1f.kickoff",
            "attributes": {"openinference.span.kind": "CHAIN", "crew_agents": '[{"role": "a"}]'},
        },
        "openinference",
        "workflow",
        "a",
    ),
    (
        {
            "scope": "openinference.instrumentation.claude_agent_sdk",
            "name": "ClaudeAgentSDK.query",
            "attributes": {"openinference.span.kind": "AGENT"},
        },
        "openinference",
        "agent",
        "claude-agent-sdk",
    ),
    ({"attributes": {"traceloop.span.kind": "task", "traceloop.entity.name": "n"}}, "traceloop", "other", ""),
    ({"attributes": {"traceloop.span.kind": "server"}}, "traceloop", "other", ""),
    (
        {"attributes": {"traceloop.span.kind": "workflow", "traceloop.entity.name": "w"}},
        "traceloop",
        "workflow",
        "w",
    ),
    (
        {"attributes": {"traceloop.span.kind": "task", "gen_ai.operation.name": "execute_task"}},
        "traceloop",
        "other",
        "",
    ),
    ({"attributes": {"llm.request.type": "embedding"}}, "openllmetry", "other", ""),
    (
        {"attributes": {"ai.operationId": "ai.streamText", "ai.telemetry.functionId": "a"}},
        "ai_sdk",
        "agent",
        "a",
    ),
    ({"attributes": {"ai.operationId": "ai.embed"}}, "ai_sdk", "other", ""),
    ({"scope": "opencode", "attributes": {"ai.operationId": "ai.streamText"}}, "opencode", "other", "opencode"),
    ({"scope": "opencode", "name": "sql.execute"}, "opencode", "other", "opencode"),
    ({"name": "a", "attributes": {"langfuse.observation.type": "agent"}}, "langfuse", "agent", "a"),
    ({"name": "a", "attributes": {"langfuse.observation.type": "span"}}, "langfuse", "other", ""),
    (
        {"name": "a", "parent_span_id": "", "attributes": {"langfuse.observation.type": "span"}},
        "langfuse",
        "agent",
        "a",
    ),
    ({"name": "c", "attributes": {"langsmith.span.kind": "chain"}}, "langsmith", "other", ""),
    (
        {"name": "c", "parent_span_id": "", "attributes": {"langsmith.span.kind": "chain"}},
        "langsmith",
        "agent",
        "c",
    ),
    ({"name": "c", "parent_span_id": "", "attributes": {"mlflow.spanType": '"CHAIN"'}}, "mlflow", "agent", "c"),
    ({"name": "c", "attributes": {"mlflow.spanType": '"CHAIN"'}}, "mlflow", "other", ""),
    ({"name": "d", "parent_span_id": "", "attributes": {"lmnr.span.type": "DEFAULT"}}, "laminar", "agent", "d"),
    (
        {
            "scope": "gcp.vertex.agent",
            "name": "execute_tool (merged)",
            "attributes": {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "(merged tools)"},
        },
        "google_adk",
        "other",
        "",
    ),
    ({"scope": "gcp.vertex.agent", "name": "agent_run [a]"}, "google_adk", "agent", "a"),
    ({"scope": "gcp.vertex.agent", "name": "invocation"}, "google_adk", "workflow", ""),
    (
        {
            "scope": "strands.telemetry.tracer",
            "attributes": {"gen_ai.operation.name": "execute_event_loop_cycle"},
        },
        "strands",
        "other",
        "",
    ),
    (
        {"scope": "logfire.openai_agents", "name": "Agent run: {name!r}", "attributes": {"name": "a"}},
        "logfire_openai_agents",
        "agent",
        "a",
    ),
    (
        {
            "scope": "logfire.openai_agents",
            "name": "Function: {name}",
            "attributes": {"logfire.span_type": "pending_span"},
        },
        "logfire_openai_agents",
        "other",
        "",
    ),
    ({"attributes": {"mastra.span.type": "model_chunk"}}, "mastra", "other", ""),
    ({"attributes": {"mastra.span.type": "model_step"}}, "mastra", "chat", ""),
    ({"name": "tool_call.x", "attributes": {"agentops.span.kind": "tool"}}, "agentops", "other", ""),
    ({"attributes": {"mcp.method.name": "tools/list"}}, "mcp", "other", ""),
    ({"scope": "qwen-code", "name": "qwen-code.hook", "status": (2, "x")}, "qwen_code", "other", "qwen-code"),
    (
        {"scope": "gemini-cli", "attributes": {"gen_ai.operation.name": "schedule_tool_calls"}},
        "gemini_cli",
        "other",
        "gemini-cli",
    ),
    (
        {"scope": "com.anthropic.claude_code.tracing", "attributes": {"span.type": "tool.blocked_on_user"}},
        "claude_code",
        "other",
        "claude-code",
    ),
    ({"scope": "codex_exec", "attributes": {"call_id": "c-1"}}, "codex", "other", "codex"),
    ({"scope": "litellm", "attributes": {"llm.openai.messages": "[]"}}, "litellm", "other", ""),
    ({"scope": "openlit", "name": "run", "parent_span_id": ""}, "openlit", "agent", "run"),
    (
        {
            "scope": "openlit.instrumentation.openai",
            "attributes": {"gen_ai.operation.name": "chat", "gen_ai.tool.name": "a, b", "gen_ai.tool.call.id": "1, 2"},
        },
        "openlit",
        "chat",
        "",
    ),
]


@pytest.mark.parametrize(("given", "dialect", "operation", "agent"), OPERATIONS)
def test_what_a_span_is(given: dict[str, Any], dialect: str, operation: str, agent: str) -> None:
    given = dict(given)
    facts = facts_of(span(given.pop("attributes", {}), **given), WORDS)
    assert (facts.dialect, facts.operation, facts.agent) == (dialect, operation, agent)


MARKERS = {
    "langfuse": {"langfuse.observation.type": "tool"},
    "openinference": {"openinference.span.kind": "TOOL"},
    "langsmith": {"langsmith.span.kind": "tool"},
    "mlflow": {"mlflow.spanType": '"TOOL"'},
    "laminar": {"lmnr.span.type": "TOOL"},
    "traceloop": {"traceloop.span.kind": "tool"},
    "agentops": {"agentops.span.kind": "tool"},
    "mastra": {"mastra.span.type": "tool_call"},
    "ai_sdk": {"ai.operationId": "ai.toolCall"},
    "mcp": {"mcp.method.name": "tools/call"},
    "otel_genai": {"gen_ai.operation.name": "execute_tool"},
}
PAIRS = [(first, second) for at, first in enumerate(MARKERS) for second in list(MARKERS)[at + 1 :]]


@pytest.mark.parametrize(("stronger", "weaker"), PAIRS)
def test_b096_of_two_marks_the_more_specific_one_reads_the_span(stronger: str, weaker: str) -> None:
    for attributes in ({**MARKERS[stronger], **MARKERS[weaker]}, {**MARKERS[weaker], **MARKERS[stronger]}):
        facts = facts_of(span({**attributes, "gen_ai.tool.name": "refund"}, name="refund"), WORDS)
        assert (facts.dialect, facts.operation) == (stronger, "tool")


@pytest.mark.parametrize("scope", ["pydantic-ai", "strands.telemetry.tracer", "gcp.vertex.agent", "agent_framework"])
def test_a_scope_beats_the_general_names_and_loses_to_a_mark(scope: str) -> None:
    general = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "refund"}
    assert facts_of(span(general, scope=scope), WORDS).dialect not in ("", "otel_genai")
    marked = {**general, "openinference.span.kind": "TOOL"}
    assert facts_of(span(marked, scope=scope), WORDS).dialect == "openinference"


def test_dialects_have_names_of_their_own_and_say_what_turns_content_on() -> None:
    names = [dialect.name for dialect, _ in BUILT_IN]
    assert len(names) == len(set(names))
    assert [dialect.name for dialect, _ in BUILT_IN if not dialect.content] == []


def test_the_file_says_which_spans_are_a_dialects_own() -> None:
    assert [dialect.name for dialect, _ in BUILT_IN if not dialect.match] == []


def test_smolagents_final_answer_is_an_answer_and_no_tool() -> None:
    scope = "openinference.instrumentation.smolagents"
    sent = {"openinference.span.kind": "TOOL", "tool.name": "final_answer", "input.value": "{}"}
    assert facts_of(span(sent, scope=scope, name="FinalAnswerTool"), WORDS).operation == "other"
    call = "llm.output_messages.0.message.tool_calls.0.tool_call.function"
    asked = {
        "openinference.span.kind": "LLM",
        "llm.output_messages.0.message.role": "assistant",
        f"{call}.name": "final_answer",
        f"{call}.arguments": '{"answer": "Done."}',
    }
    (said,) = facts_of(span(asked, scope=scope), WORDS).messages_out
    assert [(part.kind, part.text) for part in said.parts] == [("text", "Done.")]
    (kept,) = facts_of(span(asked, scope="lib"), WORDS).messages_out
    assert [(part.kind, part.tool) for part in kept.parts] == [("tool_call", "final_answer")]


def test_mastras_stand_ins_for_earlier_steps_are_no_words() -> None:
    said = '[{"role": "user", "content": "Refund A"}, {"role": "assistant", "content": "[tool: refund][tool: look]"},'
    said += ' {"role": "tool", "content": "[tool-result: refund]"}, {"role": "assistant", "content": "see [tool: x]"}]'
    facts = facts_of(span({"mastra.span.type": "model_step", "mastra.model_step.input": said}), WORDS)
    assert [message.role for message in facts.messages_in] == ["user", "assistant"]


def test_an_mcp_servers_side_is_marked_by_its_workflow() -> None:
    sent = {"traceloop.span.kind": "tool", "traceloop.entity.name": "refund", "traceloop.workflow.name": "shop.mcp"}
    facts = facts_of(span(sent), WORDS)
    assert (facts.flags, facts.server) == (("server_side",), "shop")


def test_gemini_names_a_call_alike_in_history_and_deed() -> None:
    said = '[{"role": "model", "parts": [{"functionCall": {"name": "edit", "args": {}, "id": "fc_1"}}]}]'
    sent = {"gen_ai.operation.name": "llm_call", "gen_ai.input.messages": said}
    (message,) = facts_of(span(sent, scope="gemini-cli"), WORDS).messages_in
    assert message.parts[0].call_id == "edit__fc_1"
