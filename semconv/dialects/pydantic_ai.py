"""pydantic-ai, instrumentation versions 1 to current, and what Logfire adds to its spans.

v1: messages in `events`, arguments in `tool_arguments`; v2: `pydantic_ai.all_messages`; v3: the GenAI names. Totals of
the run are `gen_ai.aggregated_usage.*` (2.x) or `gen_ai.usage.*` (1.x): a cross-check, never added to the chat spans'.
"""

from __future__ import annotations

from semconv.dialect import Dialect, Fields, Operations, When, extended
from semconv.dialects.otel_genai import OTEL_GENAI
from semconv.registry import Found
from semconv.sources import View


def refine(view: View, found: Found) -> None:
    """Split an agent's whole conversation: what was asked of this run, and what came of it."""
    if found["operation"] != "agent" or "messages_out" in found:
        return
    messages = found.get("messages_in", ())
    new = view.attributes.get("pydantic_ai.new_message_index")
    if type(new) is int and 0 < new < len(messages):
        messages = messages[new:]  # before it lies the history of earlier runs
    cut = next((at for at, message in enumerate(messages) if message.role == "assistant"), len(messages))
    found["messages_in"], found["messages_out"] = messages[:cut], messages[cut:]


PYDANTIC_AI = extended(
    Dialect(
        name="pydantic-ai",
        priority=30,
        match=(When(scope="pydantic-ai"), When(scope="pydantic-ai-*"), When(scope="pydantic_ai*")),
        operation=Operations(names={"running tool": "tool", "running tool: *": "tool", "agent run": "agent"}),
        tool=Fields(
            tool=("gen_ai.tool.name", "$name:running tool: *"),
            input=("gen_ai.tool.call.arguments", "tool_arguments"),
            output=("gen_ai.tool.call.result", "tool_response"),
        ),
        chat=Fields(
            messages_in=("gen_ai.input.messages", "$filter:events event.name!=gen_ai.choice"),
            messages_out=("gen_ai.output.messages", "$filter:events event.name=gen_ai.choice"),
        ),
        agent=Fields(
            agent=("gen_ai.agent.name", "agent_name"),
            messages_in=("pydantic_ai.all_messages", "all_messages_events"),
            final_text=("final_result",),
            input_tokens=("gen_ai.aggregated_usage.input_tokens",),
            output_tokens=("gen_ai.aggregated_usage.output_tokens",),
        ),
        content="pydantic-ai captures content unless InstrumentationSettings(include_content=False) is set: drop it",
    ),
    OTEL_GENAI,
)
