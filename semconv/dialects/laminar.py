"""Laminar (scope `lmnr.tracer`): `lmnr.span.type`, JSON-encoded input and output, the tool's name the span's."""

from __future__ import annotations

from semconv.dialect import Dialect, Fields, Operations, When, merged
from semconv.dialects.otel_genai import OTEL_GENAI

LAMINAR = Dialect(
    name="laminar",
    priority=14,
    match=(When(attribute="lmnr.span.type"),),
    operation=Operations(
        attributes=("lmnr.span.type",),
        values={"TOOL": "tool", "LLM": "chat", "CACHED": "chat"},
        root={"DEFAULT": "agent"},
    ),
    fields=Fields(conversation=("lmnr.association.properties.session_id",), error_type=("error.type",)),
    tool=Fields(
        tool=("$name",),
        call_id=("lmnr.association.properties.metadata.tool_call_id", "gen_ai.tool.call.id"),
        input=("lmnr.span.input",),
        input_unwrap=("kwargs",),
        output=("lmnr.span.output",),
    ),
    chat=merged(
        merged(Fields(), OTEL_GENAI.chat),
        Fields(
            model=("gen_ai.response.model", "gen_ai.request.model"),
            provider=("gen_ai.system",),
            messages_in=("lmnr.span.input",),
            messages_out=("lmnr.span.output",),
            cost_usd=("gen_ai.usage.cost",),
        ),
    ),
    agent=Fields(
        agent=("$name",),
        messages_in=(
            "lmnr.span.input#/messages",
            "lmnr.span.input#/question",
            "lmnr.span.input#/prompt",
            "lmnr.span.input#/input",
            "lmnr.span.input",
        ),
        messages_out=("lmnr.span.output",),
    ),
    content="content is on unless LMNR_TRACE_CONTENT=false or ignore_input/ignore_output is set on the decorator",
)
