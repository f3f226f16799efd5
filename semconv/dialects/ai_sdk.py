"""Vercel AI SDK 5 and 6 (`experimental_telemetry`, scope `ai`) and 7's LegacyOpenTelemetry: `ai.*` attributes.

`ai.response.toolCalls[].input` is JSON text in v5 and an object in v7; usage of the root is the last step's in v5 and
the sum in v6, so it is never added to the steps'. v7's own integration (scope `gen_ai`) is plain OTel GenAI. opencode
wraps each call of the SDK in spans of its own runtime and asks a small model for a title in the same trace.
"""

from __future__ import annotations

from semconv.dialect import Dialect, Fields, LogRule, Operations, When, extended
from semconv.messages import text_in
from semconv.registry import Found
from semconv.sources import View

AI_SDK = Dialect(
    name="ai_sdk",
    priority=20,
    match=(
        When(attribute="ai.operationId"),
        When(attribute="ai.toolCall.name"),
        When(scope="ai", attribute="operation.name", equals="ai.*"),
    ),
    operation=Operations(
        attributes=("ai.operationId",),
        values={
            "ai.generateText": "agent",
            "ai.streamText": "agent",
            "ai.generateObject": "agent",
            "ai.streamObject": "agent",
            "ai.generateText.doGenerate": "chat",
            "ai.streamText.doStream": "chat",
            "ai.generateObject.doGenerate": "chat",
            "ai.streamObject.doStream": "chat",
            "ai.toolCall": "tool",
        },
        names={
            "ai.toolCall": "tool",
            "ai.generateText.doGenerate": "chat",
            "ai.streamText.doStream": "chat",
            "ai.generateText": "agent",
            "ai.streamText": "agent",
        },
    ),
    fields=Fields(
        conversation=("ai.telemetry.metadata.sessionId", "ai.telemetry.metadata.session_id", "session.id"),
        error_type=("error.type",),
    ),
    tool=Fields(
        tool=("ai.toolCall.name",),
        call_id=("ai.toolCall.id",),
        input=("ai.toolCall.args",),
        output=("ai.toolCall.result",),
    ),
    chat=Fields(
        model=("ai.response.model", "gen_ai.response.model", "ai.model.id"),
        provider=("ai.model.provider", "gen_ai.system"),
        response_id=("ai.response.id", "gen_ai.response.id"),
        finish_reasons=("ai.response.finishReason", "gen_ai.response.finish_reasons"),
        input_tokens=("ai.usage.inputTokens", "ai.usage.promptTokens", "gen_ai.usage.input_tokens"),
        output_tokens=("ai.usage.outputTokens", "ai.usage.completionTokens", "gen_ai.usage.output_tokens"),
        messages_in=("ai.prompt.messages", "ai.prompt#/messages", "ai.prompt#/prompt"),
        messages_out=(
            "$map:content=ai.response.text,tool_calls=ai.response.toolCalls",
            "ai.response.object",
            "ai.result.text",
        ),
    ),
    agent=Fields(
        agent=("ai.telemetry.functionId", "resource.name"),
        model=("ai.model.id",),
        system=("ai.prompt#/system",),
        messages_in=("ai.prompt#/messages", "ai.prompt#/prompt", "ai.prompt.messages"),
        messages_out=("$map:content=ai.response.text,tool_calls=ai.response.toolCalls", "ai.response.object"),
        final_text=("ai.response.text", "ai.response.object", "ai.result.text"),
    ),
    content="in experimental_telemetry leave recordInputs and recordOutputs on",
)

OPENCODE = extended(
    Dialect(
        name="opencode",
        priority=19,
        match=(When(scope="opencode"),),
        operation=Operations(
            values={"ai.streamText": "other", "ai.generateText": "other"},
            names={"Tool.execute": "tool", "ai.streamText": "other", "ai.generateText": "other"},
        ),
        fields=Fields(agent=("=opencode",), conversation=("session.id",)),
        tool=Fields(
            tool=("ai.toolCall.name", "tool.name"),
            call_id=("ai.toolCall.id", "tool.call_id"),
            output_unwrap=("output",),
            exit_code=("ai.toolCall.result#/metadata/exit",),
        ),
        logs={"*": LogRule()},
        content="content is on by default in opencode's telemetry",
    ),
    AI_SDK,
)


def refine_opencode(view: View, found: Found) -> None:
    """The request for a session's title is no step of the agent."""
    if found["operation"] == "chat" and text_in(found.get("messages_in", ()), "system").startswith("You are a title"):
        found.update(operation="other", messages_in=(), messages_out=())
