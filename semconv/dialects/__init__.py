"""One file a convention. The order here decides nothing: `priority` and the evidence do."""

from __future__ import annotations

from semconv.dialect import Dialect
from semconv.dialects import pydantic_ai
from semconv.dialects.mcp import MCP
from semconv.dialects.openinference import OPENINFERENCE
from semconv.dialects.otel_genai import OTEL_GENAI
from semconv.registry import Refine

BUILT_IN: tuple[tuple[Dialect, Refine | None], ...] = (
    (OTEL_GENAI, None),
    (pydantic_ai.PYDANTIC_AI, pydantic_ai.refine),
    (MCP, None),
    (OPENINFERENCE, None),
)
