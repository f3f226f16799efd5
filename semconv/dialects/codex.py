"""Codex CLI: log events of scope `codex_otel.*`; its traces are a program's insides and no steps.

`success` is true whatever the exit status: the status is in the text of the output. No answer of the model is logged.
The event's own name field holds a source location, the name is in the attribute. One conversation is cut into attempts
at its prompts.
"""

from __future__ import annotations

import re

from semconv.dialect import Dialect, Fields, LogRule, When, merged
from semconv.registry import FAILED, Found
from semconv.sources import View

# On events alone: hundreds of spans of the program carry the conversation too.
_JOINED = Fields(attempt=("conversation.id",), join=("conversation.id",), duration_ms=("duration_ms",))
_USAGE = merged(
    Fields(model=("model",), input_tokens=("input_token_count",), output_tokens=("output_token_count",)), _JOINED
)
_RESULT = merged(
    Fields(
        tool=("tool_name",),
        server=("mcp_server",),
        call_id=("call_id",),
        input=("arguments",),
        output=("output",),
        failed={"success": ("false",)},
        succeeded={"success": ("true",)},
        error_type=("error_type",),
        sequence=("tool_result_seq",),
    ),
    _JOINED,
)

CODEX = Dialect(
    name="codex",
    priority=18,
    match=(When(scope="codex*"),),
    fields=Fields(agent=("=codex",), conversation=("conversation.id",)),
    logs={
        "*": LogRule(),
        "codex.user_prompt": LogRule("agent", merged(Fields(messages_in=("prompt",)), _JOINED), "start"),
        "codex.sse_event": LogRule("chat", _USAGE),
        "codex.websocket_event": LogRule("chat", _USAGE),
        "codex.tool_result": LogRule("tool", _RESULT),
    },
    content="prompts need log_user_prompt = true under [otel] of config.toml; answers of the model are never logged",
)

_EXITED = re.compile(r"^(?:Process )?[Ee]xit(?:ed with)? code:? (-?\d+)", re.MULTILINE)
_HEADER = 400  # characters in which the status line and `Output:` stand


def refine(view: View, found: Found) -> None:
    """Exit status and output out of the text the model is shown; events of a stream that count nothing put aside."""
    if found["operation"] == "chat" and found.get("input_tokens") is None and found.get("output_tokens") is None:
        found["operation"] = "other"
    output = found.get("output")
    if found["operation"] != "tool" or not isinstance(output, str):
        return
    exited = _EXITED.search(output, 0, _HEADER)
    header, mark, said = output.partition("\nOutput:\n")
    if mark and len(header) <= _HEADER:
        found["output"] = said
    if exited is not None and exited.group(1) != "0":
        found[FAILED] = "exit_code"
