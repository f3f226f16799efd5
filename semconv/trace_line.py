"""The trace line: one numbered record of a run (CONTRACT.md section 4)."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from semconv.values import JsonValue

Role = Literal["system", "user", "assistant", "tool", "result"]
Status = Literal["ok", "error", "unset"]
InputState = Literal["object", "decoded", "from_messages", "text", "truncated", "not_captured", "empty", ""]


class TraceLine(Struct, frozen=True, omit_defaults=True):
    """One thing that happened in a run.

    A logical call is one `assistant` line (tool, input, call_id, status) and, where a result or an error was
    captured, one `tool` line (tool, output, call_id, status). `output is None` means not captured: an empty
    answer is ''. `input` is an object, or text where the arguments are none. Times are ns since the epoch.
    """

    n: int
    role: Role
    tool: str = ""
    input: JsonValue = None
    output: JsonValue = None
    text: str = ""
    message_id: str = ""
    subtype: str = ""
    cost_usd: float | None = None
    num_turns: int | None = None
    run_id: str = ""
    call_id: str = ""
    agent: str = ""
    depth: int = 0
    status: Status = "unset"
    error: str = ""
    start_ns: int = 0
    end_ns: int = 0
    input_state: InputState = ""
    model: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    dialect: str = ""
    trace_id: str = ""
    span_id: str = ""
    flags: tuple[str, ...] = ()
    tool_raw: str = ""  # the tool's name as sent; `tool` is canonical
    server: str = ""  # the MCP server, where known
    attempts: int = 1  # spans of one call id that were retries of each other
