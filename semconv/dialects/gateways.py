"""What sits between an agent and its models, and SDKs close to GenAI: LiteLLM, OpenLIT, Mastra, AgentOps."""

from __future__ import annotations

import re

from semconv.dialect import Dialect, Fields, Operations, When, extended
from semconv.dialects.otel_genai import OTEL_GENAI
from semconv.facts import Message
from semconv.registry import Found
from semconv.sources import View

# Two spans a request; calls are in `gen_ai.completion.N.function_call` (N counts tools), their ids in the next request.
LITELLM = extended(
    Dialect(
        name="litellm",
        priority=30,
        match=(When(scope="litellm"),),
        operation=Operations(attributes=("gen_ai.operation.name",), present={"llm.request.type": "chat"}),
        fields=Fields(conversation=("gen_ai.conversation.id", "metadata.session_id", "session.id")),
        content="content is on unless litellm.turn_off_message_logging is set",
    ),
    OTEL_GENAI,
)

# Chat spans carry the names of the tools asked for, comma-joined: `gen_ai.tool.name` makes no tool span.
OPENLIT = extended(
    Dialect(
        name="openlit",
        priority=30,
        match=(When(scope="openlit*"),),
        operation=Operations(root={"*": "agent"}),
        agent=Fields(agent=("gen_ai.agent.name", "$name:invoke_agent *", "$name")),
        content="content is on unless openlit.init(capture_message_content=False)",
    ),
    OTEL_GENAI,
)

# A step holds what was said, the inference inside it what it cost.
MASTRA = extended(
    Dialect(
        name="mastra",
        priority=17,
        match=(When(attribute="mastra.span.type"),),
        operation=Operations(
            attributes=("mastra.span.type",),
            values={
                "agent_run": "agent",
                "workflow_run": "workflow",
                "model_step": "chat",
                "model_inference": "chat",
                "tool_call": "tool",
                "mcp_tool_call": "tool",
                "model_generation": "other",
                "model_chunk": "other",
            },
        ),
        fields=Fields(
            conversation=("mastra.metadata.sessionId", "mastra.metadata.threadId", "gen_ai.conversation.id"),
            error=("error.message",),
        ),
        chat=Fields(
            messages_in=("gen_ai.input.messages", "mastra.model_step.input"),
            messages_out=(
                "$map:content=mastra.model_step.output#/text,tool_calls=mastra.model_step.output#/toolCalls",
                "gen_ai.output.messages",
            ),
        ),
        agent=Fields(
            messages_in=("mastra.agent_run.input", "gen_ai.input.messages"),
            messages_out=("mastra.agent_run.output#/text", "gen_ai.output.messages"),
        ),
        content="content is on unless a span output processor of Mastra takes it out",
    ),
    OTEL_GENAI,
)

_STAND_IN = re.compile(r"(?:\[tool(?:-result)?: [^\]]{1,200}\])+")


def refine_mastra(view: View, found: Found) -> None:
    """Mastra puts `[tool: name]` in the place of calls and results of earlier steps: stand-ins are no words."""
    if "messages_in" in found:
        found["messages_in"] = tuple(one for one in found["messages_in"] if not _is_stand_in(one))


def _is_stand_in(message: Message) -> bool:
    (part, *others) = message.parts
    said = part.text if part.kind == "text" else part.value
    return not others and isinstance(said, str) and _STAND_IN.fullmatch(said) is not None


# `tool_call.NAME` says a call was asked for, `NAME.tool` that it was carried out.
AGENTOPS = extended(
    Dialect(
        name="agentops",
        priority=16,
        match=(When(attribute="agentops.span.kind"),),
        ignore=(When(attribute="agentops.span.kind", name="tool_call.*"),),
        operation=Operations(
            attributes=("agentops.span.kind",),
            values={"tool": "tool", "agent": "agent", "llm": "chat", "workflow": "workflow"},
            root={"session": "agent", "workflow": "agent"},
        ),
        tool=Fields(
            tool=("gen_ai.tool.name", "tool.name", "operation.name", "$name:*.tool", "$name"),
            call_id=("tool.call.id",),
            input=("agentops.tool.input", "tool.parameters", "agentops.entity.input"),
            input_unwrap=("kwargs",),
            output=("agentops.tool.output", "tool.result", "agentops.entity.output"),
        ),
        agent=Fields(
            agent=("gen_ai.agent.name", "agent.name", "operation.name", "$name"),
            messages_in=("agentops.entity.input",),
            messages_out=("agentops.entity.output",),
        ),
        content="content is on by default in AgentOps",
    ),
    OTEL_GENAI,
)
