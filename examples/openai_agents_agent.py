"""OpenAI Agents through OpenInference: one instrumentor, then each trial under a span with its identity.

    pip install openai-agents openinference-instrumentation-openai-agents opentelemetry-sdk opentelemetry-exporter-otlp-proto-http

Content arrives by default; OPENINFERENCE_HIDE_INPUTS and OPENINFERENCE_HIDE_OUTPUTS must not be set.
OPENAI_API_KEY and OPENAI_BASE_URL say which model answers.
"""  # noqa: E501

import os

from agents import Agent, Runner, function_tool, set_default_openai_api
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()  # reads OTEL_RESOURCE_ATTRIBUTES; the exporter reads OTEL_EXPORTER_OTLP_ENDPOINT
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(provider)
OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)
set_default_openai_api("chat_completions")  # any server that speaks it; leave it out for OpenAI's own


@function_tool
def get_order(order_id: str) -> str:
    """What is known of an order."""
    return f"order {order_id}: shipped"


agent = Agent(name="orders", model=os.environ.get("MODEL", "gpt-4o-mini"), tools=[get_order])
tracer = trace.get_tracer("orders")
for trial in range(2):
    identity = {"passhat.task.id": "where-is-my-order", "passhat.trial.id": str(trial)}
    with tracer.start_as_current_span("trial", attributes=identity) as root:
        answer = str(Runner.run_sync(agent, "Where is order A1?").final_output)
        root.set_attribute("passhat.outcome", "pass" if "shipped" in answer else "fail")
provider.shutdown()  # sends what is waiting
