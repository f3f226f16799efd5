"""Agent SDKs with a scope of their own: Google ADK, Strands, Agent Framework, Semantic Kernel, AutoGen."""

from __future__ import annotations

import re

from msgspec import structs

from semconv.decode import arguments, literal_or_none
from semconv.dialect import Dialect, Fields, Operations, When, extended
from semconv.dialects.otel_genai import OTEL_GENAI
from semconv.facts import Message, Part
from semconv.messages import messages_of
from semconv.registry import Found
from semconv.sources import View

# ADK 1.x: `invocation` > `agent_run [name]` > `call_llm` > `execute_tool`; 2.x: GenAI names. Parallel calls add a span
# for `(merged tools)`, which is none. Tools report failure in their result alone.
GOOGLE_ADK = extended(
    Dialect(
        name="google_adk",
        priority=30,
        match=(When(scope="gcp.vertex.agent"),),
        ignore=(
            When(attribute="gen_ai.tool.name", equals="(merged tools)"),
            When(attribute="gen_ai.tool.name", equals="(merged)"),
        ),
        operation=Operations(names={"agent_run [*": "agent", "invocation": "workflow", "call_llm": "chat"}),
        fields=Fields(conversation=("gcp.vertex.agent.session_id",)),
        tool=Fields(
            input=("gen_ai.tool.call.arguments", "gcp.vertex.agent.tool_call_args"),
            output=("gen_ai.tool.call.result", "gcp.vertex.agent.tool_response"),
        ),
        chat=Fields(
            system=("gen_ai.system_instructions", "gcp.vertex.agent.llm_request#/config/system_instruction"),
            messages_in=("gen_ai.input.messages", "gcp.vertex.agent.llm_request#/contents"),
            messages_out=("gen_ai.output.messages", "gcp.vertex.agent.llm_response#/content"),
            response_id=("gen_ai.response.id", "gcp.vertex.agent.event_id"),
        ),
        agent=Fields(agent=("gen_ai.agent.name", "$name:agent_run [*]")),
        content=(
            "ADK 2: OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=span_and_event and"
            " OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental;"
            " ADK 1: ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true"
        ),
    ),
    OTEL_GENAI,
)

# Default layout: span events in Bedrock's shape; `gen_ai.choice` on a tool span is the tool's result, no answer.
STRANDS = extended(
    Dialect(
        name="strands",
        priority=30,
        match=(When(scope="strands.telemetry.tracer"), When(attribute="gen_ai.system", equals="strands-agents")),
        fields=Fields(conversation=("session.id",)),
        tool=Fields(
            input=("gen_ai.tool.call.arguments", "$event:gen_ai.tool.message#/content"),
            output=("gen_ai.tool.call.result", "$event:gen_ai.choice#/message"),
        ),
        content="content is always on in Strands' spans",
    ),
    OTEL_GENAI,
)

AGENT_FRAMEWORK = extended(
    Dialect(
        name="agent_framework",
        priority=30,
        match=(When(scope="agent_framework*"),),
        content="call setup_observability(enable_sensitive_data=True) or set ENABLE_SENSITIVE_DATA=true",
    ),
    OTEL_GENAI,
)

SEMANTIC_KERNEL = extended(
    Dialect(
        name="semantic_kernel",
        priority=30,
        match=(When(scope="semantic_kernel*"), When(scope="Microsoft.SemanticKernel*")),
        content=(
            "set SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE=true;"
            " its messages are Python log records: export logs too"
        ),
    ),
    OTEL_GENAI,
)

# The contrib instrumentation of the OpenAI Agents SDK, 0.1: calls are printed objects in text parts, and every child
# has one constant for an agent's name.
OPENAI_AGENTS = extended(
    Dialect(
        name="openai_agents",
        priority=58,
        match=(When(scope="opentelemetry.instrumentation.openai_agents"),),
        content=OTEL_GENAI.content,
    ),
    OTEL_GENAI,
)

_PRINTED_CALL = re.compile(
    r"ResponseFunctionToolCall\(arguments=(?P<arguments>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"), "
    r"call_id='(?P<id>[^']*)', name='(?P<name>[^']*)'"
)


def refine_openai_agents(view: View, found: Found) -> None:
    """Printed calls back to calls, and no name where the SDK gives a constant."""
    if found.get("agent") == "OpenAI Agent":
        del found["agent"]
    for field in ("messages_in", "messages_out"):
        if field in found:
            found[field] = tuple(_with_calls(message) for message in found[field])


def _with_calls(message: Message) -> Message:
    if not any(part.text.startswith("ResponseFunctionToolCall(") for part in message.parts):
        return message
    return structs.replace(message, parts=tuple(_printed_call(part) or part for part in message.parts))


def _printed_call(part: Part) -> Part | None:
    match = _PRINTED_CALL.match(part.text)
    if match is None:
        return None
    printed = literal_or_none(f"[{match['arguments']}]")
    value, state = arguments(printed[0] if printed else None)
    return Part("tool_call", call_id=match["id"], tool=match["name"], value=value, input_state=state)


# One run over many traces, tied by the team's id in the names of its actors; arguments and results are only in the
# messages its runtime passes.
AUTOGEN = extended(
    Dialect(
        name="autogen",
        priority=30,
        match=(When(scope="autogen*"),),
        operation=Operations(
            attributes=("gen_ai.operation.name",),
            names={"autogen process *": "chat"},
            present={"messaging.operation": "other"},
        ),
        chat=Fields(
            input_tokens=("message#/message/models_usage/prompt_tokens",),
            output_tokens=("message#/message/models_usage/completion_tokens",),
        ),
        content="AutoGen's tool spans carry no arguments; its runtime's message spans do: export all its scopes",
    ),
    OTEL_GENAI,
)

_TEAM = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def refine_autogen(view: View, found: Found) -> None:
    """The team's id as join key, and the message a runtime span passes on."""
    team = _TEAM.search(str(view.attributes.get("gen_ai.agent.id") or view.name))
    if team is not None:
        found["attempt"] = team.group()
        found["join_keys"] = (*found.get("join_keys", ()), f"autogen={team.group()}")
    if found["operation"] != "chat" or "message" not in view.attributes:
        return
    passed = view.parsed("message", view.attributes["message"])
    message = passed.get("message") if isinstance(passed, dict) else None
    if isinstance(message, dict):
        said = _message(message)
        asked = message.get("type") == "ToolCallExecutionEvent" or message.get("source") == "user"
        found["messages_in" if asked else "messages_out"] = messages_of(said, "user")
    elif isinstance(passed, dict) and isinstance(passed.get("messages"), list):
        found["messages_in"] = messages_of([_message(one) for one in passed["messages"]], "user")
    if not (found.get("messages_in") or found.get("messages_out")):
        found["operation"] = "other"


def _message(message: object) -> object:
    """An AutoGen event as a chat message."""
    if not isinstance(message, dict):
        return None
    content, kind = message.get("content"), message.get("type")
    role = "user" if message.get("source") == "user" else "assistant"
    if kind == "ToolCallRequestEvent":
        return {"role": "assistant", "id": message.get("id"), "tool_calls": content}
    if kind == "ToolCallExecutionEvent" and isinstance(content, list):
        blocks = [{"type": "tool_result", **block} for block in content if isinstance(block, dict)]
        return {"role": "tool", "id": message.get("id"), "content": blocks}
    return {"role": role, "id": message.get("id"), "content": content}
