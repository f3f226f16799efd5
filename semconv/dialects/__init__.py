"""One file a convention. The order here decides nothing: `priority` and the evidence do."""

from __future__ import annotations

from semconv.dialect import Dialect
from semconv.dialects import (
    agents,
    ai_sdk,
    claude_code,
    codex,
    gateways,
    gemini_cli,
    logfire,
    openinference,
    otel_genai,
    pydantic_ai,
    traceloop,
)
from semconv.dialects.copilot import COPILOT
from semconv.dialects.laminar import LAMINAR
from semconv.dialects.langfuse import LANGFUSE
from semconv.dialects.langsmith import LANGSMITH
from semconv.dialects.mcp import MCP
from semconv.dialects.mlflow import MLFLOW
from semconv.registry import Refine

BUILT_IN: tuple[tuple[Dialect, Refine | None], ...] = (
    (LANGFUSE, None),
    (openinference.OPENINFERENCE, openinference.refine),
    (LANGSMITH, None),
    (MLFLOW, None),
    (LAMINAR, None),
    (traceloop.CREWAI, traceloop.refine_crewai),
    (traceloop.TRACELOOP, traceloop.refine),
    (gateways.AGENTOPS, None),
    (gateways.MASTRA, gateways.refine_mastra),
    (claude_code.CLAUDE_CODE, claude_code.refine),
    (codex.CODEX, codex.refine),
    (gemini_cli.GEMINI_CLI, gemini_cli.refine_gemini),
    (gemini_cli.QWEN_CODE, None),
    (ai_sdk.OPENCODE, ai_sdk.refine_opencode),
    (ai_sdk.AI_SDK, None),
    (logfire.LOGFIRE_OPENAI_AGENTS, None),
    (logfire.PYDANTIC_EVALS, logfire.refine_evals),
    (COPILOT, None),
    (agents.GOOGLE_ADK, None),
    (agents.STRANDS, None),
    (agents.AGENT_FRAMEWORK, None),
    (agents.SEMANTIC_KERNEL, None),
    (agents.AUTOGEN, agents.refine_autogen),
    (agents.OPENAI_AGENTS, agents.refine_openai_agents),
    (gateways.LITELLM, None),
    (gateways.OPENLIT, None),
    (pydantic_ai.PYDANTIC_AI, pydantic_ai.refine),
    (traceloop.OPENLLMETRY, None),
    (MCP, None),
    (otel_genai.OTEL_GENAI, otel_genai.refine),
)
