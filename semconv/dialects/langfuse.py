"""Langfuse SDK 3 to 5 (scope `langfuse-sdk`): `langfuse.observation.*`, values JSON, a tool's name is its span's."""

from __future__ import annotations

from semconv.dialect import Dialect, Fields, Operations, When

LANGFUSE = Dialect(
    name="langfuse",
    priority=10,
    match=(When(attribute="langfuse.observation.type"),),
    operation=Operations(
        attributes=("langfuse.observation.type",),
        values={"agent": "agent", "tool": "tool", "generation": "chat", "embedding": "other"},
        root={"span": "agent", "chain": "agent"},
    ),
    fields=Fields(
        conversation=("session.id", "langfuse.session.id", "gen_ai.conversation.id"),
        error=("langfuse.observation.status_message",),
        failed={"langfuse.observation.level": ("error",)},
    ),
    tool=Fields(
        tool=("$name",),
        call_id=("langfuse.observation.metadata.tool_call_id", "gen_ai.tool.call.id"),
        input=("langfuse.observation.input",),
        input_unwrap=("kwargs",),
        output=("langfuse.observation.output",),
    ),
    chat=Fields(
        model=("langfuse.observation.model.name", "gen_ai.request.model"),
        input_tokens=(
            "langfuse.observation.usage_details#/input",
            "langfuse.observation.usage_details#/prompt_tokens",
            "langfuse.observation.usage_details#/input_tokens",
        ),
        output_tokens=(
            "langfuse.observation.usage_details#/output",
            "langfuse.observation.usage_details#/completion_tokens",
            "langfuse.observation.usage_details#/output_tokens",
        ),
        cost_usd=("langfuse.observation.cost_details#/total",),
        messages_in=("langfuse.observation.input",),
        messages_out=("langfuse.observation.output",),
    ),
    agent=Fields(
        agent=("$name",),
        messages_in=(
            "langfuse.observation.input#/args/0",
            "langfuse.observation.input#/input",
            "langfuse.observation.input",
        ),
        messages_out=("langfuse.observation.output",),
    ),
    content="content is on unless the SDK's mask or capture_input/capture_output switch it off",
)
