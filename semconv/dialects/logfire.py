"""Logfire's own instrumentation of the OpenAI Agents SDK, and pydantic-evals: names of attributes without a namespace.

Templates are span names (`Agent run: {name!r}`, `Function: {name}`). A failed tool has `error` JSON and status ERROR.
"""

from __future__ import annotations

from semconv.dialect import Dialect, Fields, Operations, When
from semconv.facts import Evaluation
from semconv.registry import Found
from semconv.sources import View
from semconv.values import JsonValue

LOGFIRE_OPENAI_AGENTS = Dialect(
    name="logfire_openai_agents",
    priority=25,
    match=(When(scope="logfire.openai_agents"),),
    ignore=(When(attribute="logfire.span_type", equals="pending_span"),),
    operation=Operations(
        names={
            "OpenAI Agents trace*": "workflow",
            "Agent run*": "agent",
            "Function:*": "tool",
            "Responses API*": "chat",
            "Chat completion*": "chat",
            "Chat Completion*": "chat",
        },
    ),
    fields=Fields(conversation=("group_id",), error=("error",)),
    tool=Fields(tool=("name",), input=("input",), output=("output",), server=("mcp_data#/server",)),
    chat=Fields(
        model=("gen_ai.response.model", "gen_ai.request.model"),
        provider=("gen_ai.system",),
        response_id=("gen_ai.response.id", "response_id"),
        finish_reasons=("gen_ai.response.finish_reasons",),
        input_tokens=("gen_ai.usage.input_tokens", "usage#/input_tokens"),
        output_tokens=("gen_ai.usage.output_tokens", "usage#/output_tokens"),
        cost_usd=("operation.cost",),
        messages_in=("$filter:events event.name!=gen_ai.choice", "raw_input"),
        messages_out=("$filter:events event.name=gen_ai.choice", "response#/output"),
    ),
    agent=Fields(agent=("name",)),
    workflow=Fields(agent=("name",)),
    content="content is on by default in logfire.instrument_openai_agents()",
)

PYDANTIC_EVALS = Dialect(
    name="pydantic_evals",
    priority=25,
    match=(When(scope="pydantic-evals*"),),
    ignore=(When(attribute="logfire.span_type", equals="pending_span"),),
    content="pydantic-evals says what a case asserted; the agent's own spans lie inside it",
)


def refine_evals(view: View, found: Found) -> None:
    """A case's assertions and labels as evaluations: `{name: {value, reason}}`."""
    for key in ("assertions", "labels", "scores"):
        held = view.parsed(key, view.attributes.get(key))
        if not isinstance(held, dict):
            continue
        for name, said in held.items():
            found["evaluations"] = (*found.get("evaluations", ()), _evaluation(name, said))


def _evaluation(name: str, said: JsonValue) -> Evaluation:
    value, reason = (said.get("value"), said.get("reason")) if isinstance(said, dict) else (said, "")
    label = value if isinstance(value, str) else ""
    if isinstance(value, bool):
        label = "pass" if value else "fail"
    score = float(value) if isinstance(value, int | float) else None
    return Evaluation(name=name, label=label, score=score, explanation=reason if isinstance(reason, str) else "")
