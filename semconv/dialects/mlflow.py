"""MLflow traces over OTLP: every value of `mlflow.*` is JSON, plain strings too (`mlflow.spanType` is `"TOOL"`)."""

from __future__ import annotations

from semconv.dialect import Dialect, Fields, Operations, When

MLFLOW = Dialect(
    name="mlflow",
    priority=13,
    match=(When(attribute="mlflow.spanType"),),
    operation=Operations(
        attributes=("mlflow.spanType",),
        values={"AGENT": "agent", "TOOL": "tool", "CHAT_MODEL": "chat", "LLM": "chat", "WORKFLOW": "workflow"},
        root={"CHAIN": "agent"},
    ),
    fields=Fields(conversation=("mlflow.trace.session", "metadata#/thread_id", "metadata#/session_id")),
    tool=Fields(
        tool=("$name",),
        call_id=("tool_call_id",),
        input=("mlflow.spanInputs",),
        input_unwrap=("kwargs",),
        output=("mlflow.spanOutputs",),
    ),
    chat=Fields(
        model=("mlflow.llm.model", "invocation_params#/model"),
        provider=("mlflow.llm.provider",),
        response_id=("mlflow.spanOutputs#/id",),
        input_tokens=("mlflow.chat.tokenUsage#/input_tokens",),
        output_tokens=("mlflow.chat.tokenUsage#/output_tokens",),
        cost_usd=("mlflow.llm.cost#/total_cost", "mlflow.llm.cost#/total"),
        messages_in=("mlflow.spanInputs",),
        messages_out=("mlflow.spanOutputs",),
    ),
    agent=Fields(
        agent=("metadata#/lc_agent_name", "$name"),
        messages_in=("mlflow.spanInputs",),
        messages_out=("mlflow.spanOutputs",),
    ),
    workflow=Fields(agent=("$name",), messages_in=("mlflow.spanInputs",), messages_out=("mlflow.spanOutputs",)),
    content="content is always on in MLflow traces; an empty value means that the function got or gave nothing",
)
