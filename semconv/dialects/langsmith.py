"""LangSmith's OpenTelemetry export (scope `langsmith`): whole JSON payloads in `gen_ai.prompt`, `gen_ai.completion`.

Tool output is wrapped (`{"output": …}`, `{"error": …}`); failed tools of the Claude Agent SDK keep status OK and have
an `exception` event only. The outermost chain is the run.
"""

from __future__ import annotations

from semconv.dialect import Dialect, Fields, Operations, When

LANGSMITH = Dialect(
    name="langsmith",
    priority=12,
    match=(When(attribute="langsmith.span.kind"),),
    operation=Operations(
        attributes=("langsmith.span.kind",),
        values={"llm": "chat", "tool": "tool"},
        root={"chain": "agent"},
    ),
    fields=Fields(
        conversation=(
            "langsmith.metadata.thread_id",
            "langsmith.metadata.session_id",
            "langsmith.metadata.conversation_id",
            "langsmith.trace.session_id",
        ),
        error_type=("error.type",),
    ),
    tool=Fields(
        tool=("gen_ai.tool.name", "$name"),
        call_id=("gen_ai.tool.call.id", "langsmith.metadata.tool_call_id"),
        input=("gen_ai.prompt", "gen_ai.tool.call.arguments"),
        input_unwrap=("input", "kwargs"),
        output=("gen_ai.completion", "gen_ai.tool.call.result"),
        output_unwrap=("output", "error"),
    ),
    chat=Fields(
        model=("gen_ai.response.model", "gen_ai.request.model", "langsmith.metadata.ls_model_name"),
        provider=("langsmith.metadata.ls_provider", "gen_ai.system"),
        response_id=("gen_ai.response.id", "gen_ai.completion#/id"),
        finish_reasons=("gen_ai.response.finish_reasons",),
        input_tokens=("gen_ai.usage.input_tokens", "langsmith.metadata.usage_metadata#/input_tokens"),
        output_tokens=("gen_ai.usage.output_tokens", "langsmith.metadata.usage_metadata#/output_tokens"),
        messages_in=("gen_ai.prompt",),
        messages_out=("gen_ai.completion#/output", "gen_ai.completion"),
    ),
    agent=Fields(
        agent=("langsmith.metadata.lc_agent_name", "langsmith.trace.name", "$name"),
        messages_in=(
            "gen_ai.prompt#/messages",
            "gen_ai.prompt#/prompt",
            "gen_ai.prompt#/question",
            "gen_ai.prompt#/input",
            "gen_ai.prompt",
        ),
        messages_out=("gen_ai.completion#/output", "gen_ai.completion"),
        num_turns=("langsmith.metadata.num_turns",),
    ),
    content="content is on unless LANGSMITH_HIDE_INPUTS or LANGSMITH_HIDE_OUTPUTS is set",
)
