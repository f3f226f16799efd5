"""Gemini CLI and Qwen Code, its fork: log events and spans, both with names of their own.

Gemini CLI spreads one run over many traces (each model call and each batch of tool calls is a root): its session ties
them, its prompts cut it. A tool's arguments and result are under the names of messages. A failing shell command is a
success there; its exit status is in the event's metadata, or in the text. Qwen Code has one trace a prompt.
"""

from __future__ import annotations

import re

from msgspec import structs

from semconv.dialect import Dialect, Fields, LogRule, Operations, When, extended
from semconv.dialects.otel_genai import OTEL_GENAI
from semconv.facts import Message, Part
from semconv.registry import FAILED, Found
from semconv.sources import View

_TOOL_EVENT = Fields(
    tool=("function_name",),
    server=("mcp_server_name",),
    call_id=("call_id",),
    input=("function_args",),
    error=("error", "error.message"),
    error_type=("error_type", "error.type"),
    exit_code=("metadata#/exitCode",),
    failed={"success": ("false",), "status": ("error",), "metadata#/isError": ("true",)},
    succeeded={"success": ("true",)},
)
_RESPONSE_EVENT = Fields(
    model=("model",),
    input_tokens=("input_token_count",),
    output_tokens=("output_token_count",),
    finish_reasons=("finish_reasons",),
    response_id=("response_id",),
    messages_out=("response_text",),
)
_ERROR_EVENT = Fields(
    model=("model", "model_name"),
    error=("error", "error_message", "error.message"),
    error_type=("error_type", "error.type"),
)


def _events(prefix: str) -> dict[str, LogRule]:
    return {
        "*": LogRule(),
        f"{prefix}.user_prompt": LogRule("agent", Fields(messages_in=("prompt",)), "start"),
        f"{prefix}.api_request": LogRule("chat", Fields(messages_in=("request_text",))),
        f"{prefix}.api_response": LogRule("chat", _RESPONSE_EVENT),
        f"{prefix}.api_error": LogRule("chat", _ERROR_EVENT),
        f"{prefix}.tool_call": LogRule("tool", _TOOL_EVENT),
        f"{prefix}.conversation_finished": LogRule("other", Fields(), "end"),
        # Request and response once more, each: what the events above say.
        "gen_ai.client.inference.operation.details": LogRule("other"),
    }


GEMINI_CLI = Dialect(
    name="gemini_cli",
    priority=18,
    match=(When(scope="gemini-cli"),),
    operation=Operations(
        attributes=("gen_ai.operation.name",),
        values={"llm_call": "chat", "tool_call": "tool", "agent_call": "agent", "schedule_tool_calls": "other"},
    ),
    fields=Fields(
        agent=("gen_ai.agent.name", "=gemini-cli"),
        conversation=("session.id", "gen_ai.conversation.id"),
        join=("session.id", "gen_ai.conversation.id"),
        attempt=("prompt_id", "gen_ai.prompt.name", "gen_ai.input.messages#/prompt_id"),
        duration_ms=("duration_ms",),
    ),
    tool=Fields(
        tool=("gen_ai.tool.name", "gen_ai.input.messages#/name"),
        call_id=("gen_ai.tool.call_id", "gen_ai.tool.call.id", "gen_ai.input.messages#/callId"),
        input=("gen_ai.input.messages#/args",),
        output=(
            "gen_ai.output.messages#/response/responseParts/0/functionResponse/response",
            "gen_ai.output.messages#/response/resultDisplay",
        ),
        output_unwrap=("output", "error"),
        error=("gen_ai.output.messages#/response/error/message",),
        error_type=("gen_ai.output.messages#/response/errorType",),
        failed={"gen_ai.output.messages#/status": ("error", "cancelled")},
        succeeded={"gen_ai.output.messages#/status": ("success",)},
    ),
    chat=Fields(
        model=("gen_ai.response.model", "gen_ai.request.model"),
        provider=("=google",),
        system=("gen_ai.system_instructions",),
        messages_in=("gen_ai.input.messages",),
        messages_out=("gen_ai.output.messages",),
        input_tokens=("gen_ai.usage.input_tokens",),
        output_tokens=("gen_ai.usage.output_tokens",),
    ),
    logs=_events("gemini_cli"),
    content="leave telemetry.logPrompts (GEMINI_TELEMETRY_LOG_PROMPTS) on; results of tools need telemetry.traces",
)

QWEN_CODE = extended(
    Dialect(
        name="qwen_code",
        priority=18,
        match=(When(scope="qwen-code"),),
        ignore=(When(scope="qwen-code", name="qwen-code.hook"),),
        operation=Operations(names={"qwen-code.tool.execution": "tool"}),
        fields=Fields(
            agent=("gen_ai.agent.name", "=qwen-code"),
            conversation=("session.id",),
            join=("qwen-code.prompt_id", "prompt_id"),
            attempt=("qwen-code.prompt_id", "prompt_id"),
            duration_ms=("duration_ms",),
        ),
        tool=Fields(
            tool=("gen_ai.tool.name", "tool_name"),
            call_id=("gen_ai.tool.call.id", "tool.call_id", "call_id"),
            output_unwrap=("output", "error"),
            failed={"success": ("false",), "execution_status": ("error",)},
            succeeded={"success": ("true",)},
            error=("error",),
        ),
        agent=Fields(subtype=("qwen-code.turn_status",)),
        logs=_events("qwen-code"),
        content="leave telemetry.logPrompts (QWEN_TELEMETRY_LOG_PROMPTS) on",
    ),
    OTEL_GENAI,
)

_EXIT_CODE = re.compile(r"^Exit Code: (-?[1-9]\d*)$", re.MULTILINE)


def refine_gemini(view: View, found: Found) -> None:
    """A shell command's failure out of the text its span keeps as a success; ids of calls as everywhere else."""
    output = found.get("output")
    if found["operation"] == "tool" and isinstance(output, str) and _EXIT_CODE.search(output):
        found[FAILED] = "exit_code"
    if "messages_in" in found:
        found["messages_in"] = tuple(_with_whole_ids(message) for message in found["messages_in"])


def _with_whole_ids(message: Message) -> Message:
    """The history names a call by its bare id, where the call itself is `{tool}__{id}`."""
    if not any(part.call_id for part in message.parts):
        return message
    return structs.replace(message, parts=tuple(_with_whole_id(part) for part in message.parts))


def _with_whole_id(part: Part) -> Part:
    prefix = f"{part.tool}__"
    if not part.call_id or not part.tool or part.call_id.startswith(prefix):
        return part
    return structs.replace(part, call_id=prefix + part.call_id)
