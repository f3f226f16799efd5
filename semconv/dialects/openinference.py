"""OpenInference (Arize): `openinference.span.kind`, flattened `llm.*` messages, `input.value` and `output.value`.

Also what its span processors add to native spans of other frameworks: both conventions on one span. `tool.parameters`
is a schema for some instrumentations and the arguments for others, so it is never read as arguments.
"""

from __future__ import annotations

from msgspec import structs

from semconv.decode import json_text, plain
from semconv.dialect import Dialect, Fields, Operations, When
from semconv.facts import Message, Part
from semconv.registry import Found
from semconv.sources import View

OPENINFERENCE = Dialect(
    name="openinference",
    priority=11,
    match=(When(attribute="openinference.span.kind"),),
    ignore=(When(attribute="tool.name", equals="final_answer", name="FinalAnswerTool"),),
    operation=Operations(
        attributes=("openinference.span.kind",),
        values={
            "TOOL": "tool",
            "AGENT": "agent",
            "LLM": "chat",
            "RETRIEVER": "other",
            "EMBEDDING": "other",
            "RERANKER": "other",
            "GUARDRAIL": "other",
            "EVALUATOR": "other",
            "PROMPT": "other",
        },
        names={"Crew_*": "workflow"},
    ),
    fields=Fields(
        conversation=("session.id", "gen_ai.conversation.id"),
        error_type=("error.type",),
    ),
    tool=Fields(
        agent=("agent.name", "gen_ai.agent.name"),
        tool=("tool.name", "tool_call.function.name", "gen_ai.tool.name", "$name"),
        call_id=("tool_call.id", "tool.id", "gen_ai.tool.call.id"),
        input=("input.value", "tool_call.function.arguments", "gen_ai.tool.call.arguments", "tool_arguments"),
        input_unwrap=("kwargs",),
        output=("output.value", "gen_ai.tool.call.result", "tool_response"),
    ),
    chat=Fields(
        agent=("agent.name", "gen_ai.agent.name"),
        model=("llm.response.model_name", "llm.model_name", "llm.request.model_name", "gen_ai.request.model"),
        provider=("llm.provider", "llm.system", "gen_ai.provider.name"),
        response_id=("gen_ai.response.id", "output.value#/id"),
        finish_reasons=("llm.finish_reason", "gen_ai.response.finish_reasons"),
        input_tokens=("llm.token_count.prompt", "gen_ai.usage.input_tokens"),
        output_tokens=("llm.token_count.completion", "gen_ai.usage.output_tokens"),
        cost_usd=("llm.cost.total", "operation.cost"),
        messages_in=("$indexed:llm.input_messages", "gen_ai.input.messages", "input.value"),
        messages_out=("$indexed:llm.output_messages", "gen_ai.output.messages", "output.value"),
    ),
    agent=Fields(
        agent=(
            "agent.name",
            "gen_ai.agent.name",
            "graph.node.id",
            "$scope:openinference.instrumentation.claude_agent_sdk=claude-agent-sdk",
            "$name:*.run",
            "$name",
        ),
        model=("llm.model_name",),
        messages_in=("$indexed:llm.input_messages", "input.value#/task", "input.value"),
        messages_out=("$indexed:llm.output_messages", "output.value#/raw", "output.value"),
        final_text=("final_result",),
    ),
    workflow=Fields(
        # A crew's span is named by a random id: the same task would have another name in each run.
        agent=("agent.name", "crew_agents#/0/role", "=crew"),
        messages_out=("output.value#/raw", "output.value"),
    ),
    content="content is on unless OPENINFERENCE_HIDE_INPUTS, OPENINFERENCE_HIDE_OUTPUTS or the like hide it",
)


def refine(view: View, found: Found) -> None:
    """smolagents ends by a tool of its own: what is handed to `final_answer` is the answer, no step."""
    if view.record.scope.name != "openinference.instrumentation.smolagents":
        return
    for field in ("messages_in", "messages_out"):
        if field in found:
            found[field] = tuple(_with_answer(message) for message in found[field])


def _with_answer(message: Message) -> Message:
    if not any(part.tool == "final_answer" for part in message.parts):
        return message
    return structs.replace(message, parts=tuple(_answer(part) for part in message.parts))


def _answer(part: Part) -> Part:
    if part.tool != "final_answer" or part.kind != "tool_call" or not isinstance(part.value, dict):
        return part
    said = part.value.get("answer")
    return Part("text", said if isinstance(said, str) else json_text(plain(said)))
