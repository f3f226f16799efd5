"""Claude Code: log events (scope `com.anthropic.claude_code.events`) and beta spans (`…tracing`).

A prompt and the work it set off is one attempt (`prompt.id`, on events alone). Logs hold no tool output at any switch;
spans hold it for successes (`tool.output`), and the failure of a tool is on its child `claude_code.tool.execution`. A
call that input validation rejected is nowhere. A background subagent goes on after its `Agent` call returned, and its
notice comes as a new interaction in a new trace: both are tied to the first by the subagent's id.
"""

from __future__ import annotations

import re

from semconv.dialect import Dialect, Fields, LogRule, Operations, When
from semconv.registry import Found
from semconv.sources import View

_SUCCESS: dict[str, tuple[str, ...]] = {"success": ("true",)}
_FAILURE: dict[str, tuple[str, ...]] = {"success": ("false",)}

_COMMON = Fields(
    agent=("agent.name", "=claude-code"),
    conversation=("session.id", "gen_ai.conversation.id"),
    attempt=("prompt.id",),
    sequence=("event.sequence",),
    duration_ms=("duration_ms",),
    join=("prompt.id",),
)

_TOOL = Fields(
    tool=("tool_name", "gen_ai.tool.name"),
    server=("mcp_server_name", "mcp_server.name"),
    call_id=("tool_use_id", "gen_ai.tool.call.id"),
    input=("tool_input", "$map:command=full_command", "$map:file_path=file_path"),
    output=("$event:tool.output#/output", "$event:tool.output#/content", "$event:tool.output#/diff"),
    error=("error",),
    error_type=("error_type", "error_class"),
    failed=_FAILURE,
    succeeded=_SUCCESS,
)

_USAGE = Fields(
    model=("gen_ai.response.model", "model", "gen_ai.request.model"),
    provider=("gen_ai.provider.name", "=anthropic"),
    input_tokens=("input_tokens",),
    input_tokens_plus=("cache_read_tokens", "cache_creation_tokens"),
    output_tokens=("output_tokens",),
    cost_usd=("cost_usd",),
    finish_reasons=("gen_ai.response.finish_reasons", "stop_reason"),
    response_id=("message.id", "gen_ai.response.id", "request_id"),
    failed=_FAILURE,
)

_PROMPT = LogRule("agent", Fields(messages_in=("prompt", "prompt_text"), provider=("=anthropic",)), "start")
_RESPONSE = LogRule("chat", Fields(messages_out=("response",)), "end")
_EVENTS = {
    "user_prompt": _PROMPT,
    "assistant_response": _RESPONSE,
    "api_request": LogRule("chat", _USAGE),
    "api_error": LogRule("chat", Fields(model=("model",), error=("error",), error_type=("status_code",))),
    "tool_result": LogRule("tool", _TOOL),
}

CLAUDE_CODE = Dialect(
    name="claude_code",
    priority=18,
    match=(When(scope="com.anthropic.claude_code*"),),
    operation=Operations(
        attributes=("span.type",),
        values={"interaction": "agent", "llm_request": "chat", "tool": "tool", "tool.execution": "tool"},
        names={
            "claude_code.interaction": "agent",
            "claude_code.llm_request": "chat",
            "claude_code.tool": "tool",
            "claude_code.tool.execution": "tool",
        },
    ),
    fields=_COMMON,
    tool=_TOOL,
    chat=_USAGE,
    agent=Fields(messages_in=("user_prompt",)),
    logs={**_EVENTS, **{f"claude_code.{name}": rule for name, rule in _EVENTS.items()}, "*": LogRule()},
    content=(
        "set OTEL_LOG_USER_PROMPTS=1, OTEL_LOG_TOOL_DETAILS=1, OTEL_LOG_ASSISTANT_RESPONSES=1; tool output needs traces"
        " (CLAUDE_CODE_ENHANCED_TELEMETRY_BETA=1, OTEL_TRACES_EXPORTER=otlp) with OTEL_LOG_TOOL_CONTENT=1"
    ),
)

_NOTICE = re.compile(r"\s*<task-notification>\s*<task-id>([\w-]{1,64})</task-id>")
# Read needs no more than its path; of the others the span holds only a part of the arguments.
_WHOLE_WITH_PATH = frozenset(["Read", "NotebookRead"])


def refine(view: View, found: Found) -> None:
    """Subagents tied to what started them, partial arguments marked, the events of agents below not taken as ends."""
    attributes = view.attributes
    agent_id = attributes.get("agent_id")
    if isinstance(agent_id, str) and agent_id:
        _tie(found, agent_id)
        if found.get("boundary") == "end":
            del found["boundary"]  # the end of a subagent is not the end of the attempt
    asked = attributes.get("user_prompt", attributes.get("prompt"))
    notice = _NOTICE.match(asked) if isinstance(asked, str) else None
    if notice is not None:
        _tie(found, notice.group(1))
        found["flags"] = (*found.get("flags", ()), "continuation")
        found.pop("boundary", None)
    if found["operation"] == "tool" and found["input_state"] == "object" and _is_partial(view, found):
        found["input_state"] = "truncated"
        found["flags"] = (*found.get("flags", ()), "partial_input")


def _is_partial(view: View, found: Found) -> bool:
    whole = "tool_input" in view.attributes or "full_command" in view.attributes
    return not whole and found["tool"] not in _WHOLE_WITH_PATH


def _tie(found: Found, agent_id: str) -> None:
    found["join_keys"] = (*found.get("join_keys", ()), f"claude_code.agent={agent_id}")
