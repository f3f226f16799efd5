"""OpenTelemetry GenAI semantic conventions, current layout (attributes, JSON messages), and what they were before.

Agent spans v1.31, conversation id v1.34, messages as attributes v1.37, arguments and results v1.38, workflows v1.41;
`gen_ai.system`, `prompt_tokens` and message events on spans up to v1.36.
"""

from __future__ import annotations

from semconv.dialect import Dialect, Fields, LogRule, Operations, When, merged
from semconv.names import INPUT_STATE
from semconv.registry import Found
from semconv.sources import View

_OPERATIONS = Operations(
    attributes=("gen_ai.operation.name",),
    values={
        "chat": "chat",
        "generate_content": "chat",
        "text_completion": "chat",
        "generateText": "chat",
        "streamText": "chat",
        "invoke_agent": "agent",
        "invoke_workflow": "workflow",
        "execute_tool": "tool",
        "create_agent": "create_agent",
    },
    names={"execute_tool *": "tool", "invoke_agent *": "agent", "invoke_workflow *": "workflow", "chat *": "chat"},
    present={"gen_ai.request.model": "chat", "gen_ai.tool.call.id": "tool"},
)

_FIELDS = Fields(
    agent=("gen_ai.agent.name",),
    conversation=("gen_ai.conversation.id",),
    model=("gen_ai.response.model", "gen_ai.request.model"),
    provider=("gen_ai.provider.name", "gen_ai.system"),
    error_type=("error.type",),
)

_TOOL = Fields(
    tool=("gen_ai.tool.name", "$name:execute_tool *"),
    call_id=("gen_ai.tool.call.id", "gen_ai.tool.call_id"),
    server=("mcp.server.name", "gen_ai.tool.server"),
    input=("gen_ai.tool.call.arguments", "$event:tool.output#/tool_input"),
    output=(
        "gen_ai.tool.call.result",
        "$event:tool.output#/output",
        "$event:tool.output#/content",
        "$event:tool.output#/diff",
    ),
    exit_code=("process.exit.code",),
    failed={"gen_ai.tool.status": ("error", "failure")},
    succeeded={"gen_ai.tool.status": ("success",)},
)

_MESSAGES = Fields(
    system=(
        "gen_ai.system_instructions",
        "$event:gen_ai.client.inference.operation.details#/gen_ai.system_instructions",
    ),
    messages_in=(
        "gen_ai.input.messages",
        "$event:gen_ai.client.inference.operation.details#/gen_ai.input.messages",
        "$event:gen_ai.content.prompt#/gen_ai.prompt",
        "gen_ai.prompt",
        "$indexed:gen_ai.prompt",
        "$events:gen_ai.system.message,gen_ai.user.message,gen_ai.assistant.message,gen_ai.tool.message",
    ),
    messages_out=(
        "gen_ai.output.messages",
        "$event:gen_ai.client.inference.operation.details#/gen_ai.output.messages",
        "$event:gen_ai.content.completion#/gen_ai.completion",
        "gen_ai.completion",
        "$indexed:gen_ai.completion",
        "$events:gen_ai.choice,gen_ai.choice.chunk,gen_ai.content.completion.chunk,llm.content.completion.chunk",
    ),
    input_tokens=("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
    output_tokens=("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
    cost_usd=("operation.cost", "gen_ai.usage.cost", "gen_ai.cost.total_cost"),
    response_id=("gen_ai.response.id",),
    finish_reasons=("gen_ai.response.finish_reasons", "gen_ai.response.finish_reason"),
)

_AGENT = Fields(
    agent=("gen_ai.agent.name", "$name:invoke_agent *"),
    subtype=("passhat.run.subtype",),
    num_turns=("passhat.run.num_turns",),
)
_WORKFLOW = Fields(agent=("gen_ai.agent.name", "gen_ai.workflow.name", "$name:invoke_workflow *"))

_IN = LogRule("chat", merged(Fields(messages_in=("$message",)), _FIELDS))
_OUT = LogRule("chat", merged(Fields(messages_out=("$message",)), _FIELDS))

OTEL_GENAI = Dialect(
    name="otel_genai",
    priority=60,
    match=(
        When(attribute="gen_ai.operation.name"),
        When(attribute="gen_ai.provider.name"),
        When(attribute="gen_ai.system"),
        When(attribute="gen_ai.tool.call.id"),
        When(attribute="gen_ai.request.model"),
    ),
    operation=_OPERATIONS,
    fields=_FIELDS,
    tool=_TOOL,
    chat=_MESSAGES,
    agent=merged(_AGENT, _MESSAGES),
    workflow=merged(_WORKFLOW, _MESSAGES),
    logs={
        "gen_ai.client.inference.operation.details": LogRule("chat", merged(_MESSAGES, _FIELDS)),
        "gen_ai.system.message": _IN,
        "gen_ai.user.message": _IN,
        "gen_ai.assistant.message": _IN,
        "gen_ai.tool.message": _IN,
        "gen_ai.choice": _OUT,
        "gen_ai.evaluation.result": LogRule("other", Fields(response_id=("gen_ai.response.id",))),
    },
    content=(
        "set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT to span_and_event (true for older instrumentations)"
        " and OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental"
    ),
)


def refine(view: View, found: Found) -> None:
    """Arguments that were cut before an export are cut in what is imported: checks must not take them for whole."""
    if found["operation"] == "tool" and view.attributes.get(INPUT_STATE) == "truncated":
        found["input_state"] = "truncated"
