"""OpenLLMetry / Traceloop: `traceloop.span.kind`, both layouts of its messages (indexed up to 0.5x, GenAI from 0.60).

LangChain's arguments are a Python dict printed inside JSON (`input_str`), its result a serialised ToolMessage; MCP's
are `{"tool_name", "arguments"}`. `task` spans are graph nodes, no tasks of the user; LlamaIndex hides tools in them.
CrewAI has no tool spans: the crew's whole conversation is a Python list printed in `crewai.crew.tasks_output`.
"""

from __future__ import annotations

import re

from semconv.decode import count_of, literal_or_none
from semconv.dialect import Dialect, Fields, Operations, When, extended
from semconv.dialects.otel_genai import OTEL_GENAI
from semconv.facts import CUT_MESSAGES, Message
from semconv.messages import messages_of
from semconv.registry import Found
from semconv.sources import View

TRACELOOP = extended(
    Dialect(
        name="traceloop",
        priority=15,
        match=(When(attribute="traceloop.span.kind"),),
        operation=Operations(
            attributes=("gen_ai.operation.name", "traceloop.span.kind"),
            values={
                "tool": "tool",
                "agent": "agent",
                "workflow": "workflow",
                "task": "other",
                "execute_task": "other",
                "session": "other",
                "server": "other",
            },
        ),
        fields=Fields(
            conversation=(
                "traceloop.association.properties.session_id",
                "traceloop.association.properties.thread_id",
                "gen_ai.conversation.id",
            ),
        ),
        tool=Fields(
            tool=("gen_ai.tool.name", "traceloop.entity.name", "$name:*.tool"),
            input=("gen_ai.tool.call.arguments", "traceloop.entity.input"),
            input_unwrap=("input_str", "kwargs", "arguments", "inputs"),
            output=("gen_ai.tool.call.result", "traceloop.entity.output"),
            output_unwrap=("output", "result"),
            failed={"gen_ai.task.status": ("failure",)},
        ),
        agent=Fields(
            agent=("gen_ai.agent.name", "crewai.agent.role", "traceloop.entity.name"),
            messages_in=(
                "gen_ai.input.messages",
                "traceloop.entity.input#/args/0",
                "traceloop.entity.input#/inputs/messages",
                "crewai.task.description",
            ),
            messages_out=(
                "gen_ai.output.messages",
                "traceloop.entity.output#/outputs/messages",
                "traceloop.entity.output",
            ),
            final_text=("crewai.crew.result",),
        ),
        workflow=Fields(
            agent=("gen_ai.agent.name", "traceloop.entity.name"),
            messages_in=("traceloop.entity.input#/args/0", "traceloop.entity.input#/inputs/messages"),
            messages_out=("traceloop.entity.output#/outputs/messages", "traceloop.entity.output"),
        ),
        content="content is on unless TRACELOOP_TRACE_CONTENT=false: unset it",
    ),
    OTEL_GENAI,
)

OPENLLMETRY = extended(
    Dialect(
        name="openllmetry",
        priority=45,
        match=(When(attribute="llm.request.type"), When(attribute="gen_ai.prompt.0.role")),
        operation=Operations(
            attributes=("gen_ai.operation.name", "llm.request.type"),
            values={"chat": "chat", "completion": "chat", "embedding": "other", "rerank": "other"},
        ),
        content=TRACELOOP.content,
    ),
    OTEL_GENAI,
)

CREWAI = extended(
    Dialect(
        name="crewai",
        priority=14,
        match=(When(scope="opentelemetry.instrumentation.crewai*"),),
        content="calls are told when the crew is done; OpenInference's instrumentation tells each as it is made",
    ),
    TRACELOOP,
)

MAX_TASKS = 32  # of one crew; each is a parse
# Printed texts are passed over as a whole: `messages=[{` inside one is what somebody wrote, and no conversation.
_MESSAGES = re.compile(r"""'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+"|\bmessages=(?=\[\{)""", re.DOTALL)
_USAGE = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens"}


def refine(view: View, found: Found) -> None:
    """The MCP server's side of a call, a sibling of the client's: only it names a workflow, `{server}.mcp`."""
    workflow = view.attributes.get("traceloop.workflow.name")
    if found["operation"] == "tool" and isinstance(workflow, str) and workflow.endswith(".mcp"):
        found["flags"] = tuple(dict.fromkeys((*found.get("flags", ()), "server_side")))
        found.setdefault("server", workflow.removesuffix(".mcp"))


def refine_crewai(view: View, found: Found) -> None:
    """The conversation out of the printed task outputs, and the crew's tokens."""
    printed = view.attributes.get("crewai.crew.tasks_output")
    if isinstance(printed, str):
        messages, is_whole = _conversation(printed)
        cut = next((at for at, one in enumerate(messages) if one.role == "assistant"), len(messages))
        if messages:
            found["messages_in"], found["messages_out"] = messages[:cut], messages[cut:]
        if not is_whole:
            found["lossy"] = (*found.get("lossy", ()), CUT_MESSAGES)
    elif "crewai.crew.id" in view.attributes:  # content is off, and its calls stand nowhere else
        found["lossy"] = (*found.get("lossy", ()), CUT_MESSAGES)
    printed = view.attributes.get("crewai.crew.usage_metrics")
    usage = literal_or_none(printed) if isinstance(printed, str) else None
    if isinstance(usage, dict):
        counts = {fact: count_of(usage.get(name)) for fact, name in _USAGE.items()}
        found.update({fact: count for fact, count in counts.items() if count is not None})


def _conversation(printed: str) -> tuple[tuple[Message, ...], bool]:
    """The messages of all tasks, and whether each list could be read to its end."""
    messages: tuple[Message, ...] = ()
    at = tasks = 0
    while tasks < MAX_TASKS and (match := _MESSAGES.search(printed, at)) is not None:
        at = match.end()
        if not match.group().startswith("messages"):
            continue
        tasks += 1
        found = literal_or_none(printed, at)
        if found is None:
            return messages, False
        messages += messages_of(found, "user")
    return messages, True
