"""Trials as spans of the OpenTelemetry GenAI convention, made with the stock SDK.

One `invoke_agent` root with the conversation, one `chat` span per turn of the model, one `execute_tool` span per
call. Times are given, not taken: a run of some seconds is described in milliseconds.
"""

from __future__ import annotations

import json

from opentelemetry.context import Context
from opentelemetry.trace import SpanKind, StatusCode, Tracer, format_trace_id, get_current_span, set_span_in_context

from collector.demo.data import Call, Trial, Turn

MODEL = "demo-model"
STEP_NS = 100_000_000
Message = dict[str, object]


class Recorder:
    """Writes one trial into a tracer, span by span, on a clock of its own."""

    def __init__(self, tracer: Tracer, trial: Trial, start_ns: int) -> None:
        self._tracer = tracer
        self._trial = trial
        self._now_ns = start_ns
        self._history: list[Message] = [_message("user", _text(trial.prompt))]
        self._call_ids = (f"call_{n}" for n in range(1, 1000))

    def record(self) -> Context:
        """The spans of the trial; returns the context of its root, for events about it."""
        trial, start_ns = self._trial, self._now_ns
        root = self._tracer.start_span("invoke_agent demo-agent", Context(), SpanKind.INTERNAL, start_time=start_ns)
        root.set_attributes(_identity(trial))
        root.set_attribute("gen_ai.operation.name", "invoke_agent")
        root.set_attribute("gen_ai.agent.name", "demo-agent")
        root.set_attribute("gen_ai.input.messages", json.dumps(self._history))
        context = set_span_in_context(root, Context())
        for turn in trial.turns:
            self._turn(turn, context)
        root.set_attribute("gen_ai.output.messages", json.dumps([self._history[-1]]))
        root.set_status(StatusCode.OK)
        root.end(self._tick())
        return context

    def _turn(self, turn: Turn, context: Context) -> None:
        calls = [(next(self._call_ids), call) for call in turn.calls]
        parts = [_tool_call(call_id, call) for call_id, call in calls] or [_text(turn.text)]
        answer = _message("assistant", *parts)
        reason = "tool_calls" if calls else "stop"
        chat = self._tracer.start_span(f"chat {MODEL}", context, SpanKind.CLIENT, start_time=self._tick())
        chat.set_attributes({"gen_ai.operation.name": "chat", "gen_ai.request.model": MODEL})
        chat.set_attribute("gen_ai.provider.name", "passhat-demo")
        chat.set_attribute("gen_ai.response.finish_reasons", [reason])
        chat.set_attribute("gen_ai.input.messages", json.dumps(self._history))
        chat.set_attribute("gen_ai.output.messages", json.dumps([{**answer, "finish_reason": reason}]))
        chat.end(self._tick())
        self._history.append(answer)
        for call_id, call in calls:
            self._execute(call_id, call, context)

    def _execute(self, call_id: str, call: Call, context: Context) -> None:
        name = f"execute_tool {call.tool}"
        span = self._tracer.start_span(name, context, SpanKind.INTERNAL, start_time=self._tick())
        span.set_attributes({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": call.tool})
        span.set_attributes({"gen_ai.tool.type": "function", "gen_ai.tool.call.id": call_id})
        span.set_attribute("gen_ai.tool.call.arguments", json.dumps(call.arguments))
        if call.result is not None:
            span.set_attribute("gen_ai.tool.call.result", call.result)
            self._history.append(
                _message("tool", {"type": "tool_call_response", "id": call_id, "response": call.result})
            )
        span.end(self._tick())

    def _tick(self) -> int:
        self._now_ns += STEP_NS
        return self._now_ns


def _identity(trial: Trial) -> dict[str, str | bool]:
    said = trial.outcome if trial.said_by == "attribute" else ""
    pairs: dict[str, str | bool] = {
        "passhat.task.id": trial.task_id,
        "passhat.task.class": trial.task_class,
        "passhat.task.expected": trial.expected,
        "passhat.trial.id": trial.trial_id,
        "passhat.run.id": trial.run_id,
        "passhat.outcome": said,
        "passhat.run.end": trial.run_end,
    }
    return {key: value for key, value in pairs.items() if value}


def trace_id_of(context: Context) -> str:
    """The trace id of a root's context, lower-case hex."""
    return format_trace_id(get_current_span(context).get_span_context().trace_id)


def _message(role: str, *parts: Message) -> Message:
    return {"role": role, "parts": list(parts)}


def _text(content: str) -> Message:
    return {"type": "text", "content": content}


def _tool_call(call_id: str, call: Call) -> Message:
    return {"type": "tool_call", "id": call_id, "name": call.tool, "arguments": call.arguments}
