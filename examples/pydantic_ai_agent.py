"""pydantic-ai reports itself: switch it on for all agents, give each trial its identity.

    pip install 'pydantic-ai-slim[openai]' opentelemetry-sdk opentelemetry-exporter-otlp-proto-http

Content (prompts, arguments, results) arrives by default. OPENAI_API_KEY and OPENAI_BASE_URL say which model answers.
"""

import os

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel

provider = TracerProvider()  # reads OTEL_RESOURCE_ATTRIBUTES; the exporter reads OTEL_EXPORTER_OTLP_ENDPOINT
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(provider)
Agent.instrument_all()

agent = Agent(OpenAIChatModel(os.environ.get("MODEL", "gpt-4o-mini")), name="orders")


@agent.tool_plain
def get_order(order_id: str) -> str:
    """What is known of an order."""
    return f"order {order_id}: shipped"


tracer = trace.get_tracer("orders")
for trial in range(2):
    identity = {"passhat.task.id": "where-is-my-order", "passhat.trial.id": str(trial)}
    with tracer.start_as_current_span("trial", attributes=identity) as root:
        answer = agent.run_sync("Where is order A1?").output
        root.set_attribute("passhat.outcome", "pass" if "shipped" in answer else "fail")
provider.shutdown()  # sends what is waiting
