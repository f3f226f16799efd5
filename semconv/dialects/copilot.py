"""GitHub Copilot CLI (scope `github.copilot`) and VS Code's Copilot Chat: GenAI spans, new messages only in each.

A shell tool's exit status is `process.exit.code` with the span's status unset.
"""

from __future__ import annotations

from semconv.dialect import Dialect, Fields, When, extended
from semconv.dialects.otel_genai import OTEL_GENAI

COPILOT = extended(
    Dialect(
        name="copilot",
        priority=30,
        match=(When(scope="github.copilot*"), When(scope="copilot-chat*")),
        agent=Fields(
            agent=("gen_ai.agent.name", "$name:invoke_agent *", "=github-copilot"),
            num_turns=("github.copilot.turn_count", "copilot_chat.turn_count"),
        ),
        content=(
            "Copilot CLI: OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true;"
            " VS Code: COPILOT_OTEL_CAPTURE_CONTENT=true"
        ),
    ),
    OTEL_GENAI,
)
