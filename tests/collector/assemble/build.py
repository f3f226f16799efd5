"""Units by hand: spans and log records as assembly reads them. Times are in ms after a fixed base."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from collector.assemble import Assembly, assemble
from semconv.facts import Facts, Identity, Message, Part, SpanFacts
from semconv.run import ClosedBy, Run
from semconv.trace_line import TraceLine

BASE = 1_793_000_000 * 10**9
MS = 10**6
TRACE = "0af7651916cd43dd8448eb211c80319c"


def span_id(number: int) -> str:
    return f"{number:016x}"


def span(
    number: int, parent: int | None, start: float, end: float, facts: Facts | None = None, **header: Any
) -> SpanFacts:
    """A span; `parent` None is a root."""
    known: dict[str, Any] = {"trace_id": TRACE, "name": f"span {number}", "service": "demo", "project": "default"}
    known.update(header)
    return SpanFacts(
        signal="span",
        span_id=span_id(number),
        parent_span_id=span_id(parent) if parent is not None else "",
        start_ns=BASE + int(start * MS),
        end_ns=BASE + int(end * MS),
        facts=facts or Facts(),
        **known,
    )


def agent(number: int, parent: int | None, start: float, end: float, name: str = "helper", **facts: Any) -> SpanFacts:
    return span(number, parent, start, end, Facts(operation="agent", dialect="otel_genai", agent=name, **facts))


def chat(number: int, parent: int | None, start: float, end: float, **facts: Any) -> SpanFacts:
    known: dict[str, Any] = {"model": "gpt-4o-mini"}
    return span(number, parent, start, end, Facts(operation="chat", dialect="otel_genai", **{**known, **facts}))


def tool(number: int, parent: int | None, start: float, end: float, name: str = "search", **facts: Any) -> SpanFacts:
    """A tool span; `input` given makes it known, else it was not captured."""
    state = "object" if "input" in facts else "not_captured"
    known: dict[str, Any] = {"tool": name, "tool_raw": name, "input_state": state}
    return span(number, parent, start, end, Facts(operation="tool", dialect="otel_genai", **{**known, **facts}))


def log(time: float, facts: Facts, **header: Any) -> SpanFacts:
    """A log record, without a trace unless one is given."""
    known: dict[str, Any] = {"trace_id": "", "span_id": "", "name": "event", "service": "demo", "project": "default"}
    known.update(header)
    at = BASE + int(time * MS)
    return SpanFacts(signal="log", parent_span_id="", start_ns=at, end_ns=at, facts=facts, **known)


def own(**fields: Any) -> Identity:
    return Identity(**fields)


def says(role: str, *texts: str) -> Message:
    return Message(role, tuple(Part("text", text=text) for text in texts))


def asks(call_id: str, name: str, arguments: Any = None, text: str = "") -> Message:
    """An assistant message with one call, and the text beside it."""
    return Message("assistant", (*((Part("text", text=text),) if text else ()), call(call_id, name, arguments)))


def call(call_id: str, name: str, arguments: Any = None) -> Part:
    state = "object" if arguments is not None else "not_captured"
    return Part("tool_call", call_id=call_id, tool=name, value=arguments, input_state=state)  # type: ignore[arg-type]


def gives(call_id: str, value: Any, name: str = "", error: bool = False) -> Message:
    """A tool message with one result."""
    return Message("tool", (Part("tool_result", call_id=call_id, tool=name, value=value, error=error),))


def runs_of(facts: Iterable[SpanFacts], closed_by: ClosedBy = "root", **options: Any) -> tuple[Run, ...]:
    return assembly_of(facts, closed_by, **options).runs


def assembly_of(facts: Iterable[SpanFacts], closed_by: ClosedBy = "root", **options: Any) -> Assembly:
    return assemble(list(facts), closed_by=closed_by, **options)


def run_of(facts: Iterable[SpanFacts], closed_by: ClosedBy = "root", **options: Any) -> Run:
    """The only run of a unit."""
    (run,) = runs_of(facts, closed_by, **options)
    return run


def bytes_of(facts: Iterable[SpanFacts], closed_by: ClosedBy = "root", **options: Any) -> bytes:
    """What assembly makes of a unit, as bytes: to compare runs to the last digit."""
    return msgspec.json.encode(assembly_of(facts, closed_by, **options))


def brief(lines: Sequence[TraceLine]) -> list[str]:
    """Lines as `role tool` or `role: text`, to compare order at a glance."""
    return [f"{line.role} {line.tool}" if line.tool else f"{line.role}: {line.text}" for line in lines]


def calls(run: Run) -> list[TraceLine]:
    return [line for line in run.lines if line.role == "assistant" and line.tool]
