"""MCP semantic conventions (v1.39) and FastMCP: client and server spans of `tools/call`, without content.

One logical call is up to four spans; assembly folds them by nesting.
"""

from __future__ import annotations

from semconv.dialect import Dialect, Fields, Operations, When, merged
from semconv.dialects.otel_genai import OTEL_GENAI

MCP = Dialect(
    name="mcp",
    priority=55,
    match=(When(attribute="mcp.method.name"), When(scope="fastmcp", attribute="fastmcp.component.type")),
    operation=Operations(attributes=("mcp.method.name",), values={"tools/call": "tool"}),
    fields=Fields(error_type=("error.type",)),
    tool=merged(
        Fields(
            tool=("gen_ai.tool.name", "$name:tools/call *", "$name:MCP send tools/call *"),
            server=("mcp.server.name", "fastmcp.server.name", "server.name"),
        ),
        OTEL_GENAI.tool,
    ),
    content="MCP spans carry names only: the arguments are on the agent's own tool span or in its messages",
)
