"""LangGraph through OpenInference: one instrumentor, then each trial under a span with its identity.

    pip install langchain langgraph langchain-openai openinference-instrumentation-langchain \
        opentelemetry-sdk opentelemetry-exporter-otlp-proto-http

Content arrives by default; OPENINFERENCE_HIDE_INPUTS and OPENINFERENCE_HIDE_OUTPUTS must not be set.
OPENAI_API_KEY and OPENAI_BASE_URL say which model answers.
"""

import os

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from openinference.instrumentation.langchain import LangChainInstrumentor
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()  # reads OTEL_RESOURCE_ATTRIBUTES; the exporter reads OTEL_EXPORTER_OTLP_ENDPOINT
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(provider)
LangChainInstrumentor().instrument(tracer_provider=provider)


@tool
def get_order(order_id: str) -> str:
    """What is known of an order."""
    return f"order {order_id}: shipped"


model = ChatOpenAI(model=os.environ.get("MODEL", "gpt-4o-mini")).bind_tools([get_order])
graph = StateGraph(MessagesState)
graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
graph.add_node("tools", ToolNode([get_order]))
graph.add_edge(START, "model")
graph.add_conditional_edges("model", tools_condition)
graph.add_edge("tools", "model")
orders = graph.compile(name="orders")

tracer = trace.get_tracer("orders")
for trial in range(2):
    identity = {"passhat.task.id": "where-is-my-order", "passhat.trial.id": str(trial)}
    with tracer.start_as_current_span("trial", attributes=identity) as root:
        answer = str(orders.invoke({"messages": [("user", "Where is order A1?")]})["messages"][-1].content)
        root.set_attribute("passhat.outcome", "pass" if "shipped" in answer else "fail")
provider.shutdown()  # sends what is waiting
