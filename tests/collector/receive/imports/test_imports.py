"""Files of other tools through `passhat ingest`: what they tell becomes the run that live telemetry would give."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from collector.assemble import assemble
from collector.normalise.unpack import spans_of
from collector.receive.files import FileProblem, FileRequest, read_file
from collector.receive.findings import Findings
from collector.receive.otlp_json import decode
from semconv.run import Run
from semconv.trace_line import TraceLine
from tests.collector.assemble.recorded import of_spans
from tests.semconv.recorded import capture

Row = dict[str, Any]
AT = "2026-11-01T10:00:{:02d}.000Z"


def runs_of(folder: Path, content: str) -> list[Run]:
    path = folder / "file.jsonl"
    path.write_text(content)
    found: list[Run] = []
    for item in read_file(path):
        assert isinstance(item, FileRequest), item
        findings = Findings()
        body = decode(item.body, item.signal, findings)
        assert not findings.refused
        found += assemble(of_spans(spans_of(body.SerializeToString())), closed_by="end").runs
    return found


def jsonl(records: list[Row]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def told(lines: tuple[TraceLine, ...]) -> list[tuple[Any, ...]]:
    return [(line.role, line.tool, line.input or line.output or line.text, line.status == "error") for line in lines]


def session_line(number: int, role: str, content: Any, **more: Any) -> Row:
    message: Row = {"role": role, "content": content, **more.pop("message", {})}
    return {
        "type": role, "uuid": f"u{number}", "parentUuid": f"u{number - 1}", "sessionId": "s-1", "version": "2.1.0",
        "timestamp": AT.format(number), "isSidechain": False, "message": message, **more,
    }  # fmt: skip


def session() -> list[Row]:
    """Two prompts: the first reads a file, runs a command that fails, and calls a sub-agent; the second says thanks."""
    answer = {"id": "m1", "model": "claude-sonnet-4-5", "usage": {"input_tokens": 10, "output_tokens": 5}}
    use = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a.py"}}
    run = {"type": "tool_use", "id": "t2", "name": "Bash", "input": {"command": "pytest"}}
    return [
        {"type": "summary", "summary": "Fix", "leafUuid": "u9"},
        session_line(1, "user", "fix it"),
        session_line(2, "assistant", [{"type": "text", "text": "I look."}], message=answer),
        session_line(3, "assistant", [use], message=answer),
        session_line(4, "user", [{"type": "tool_result", "tool_use_id": "t1", "content": "x = 1"}]),
        session_line(5, "assistant", [run], message={**answer, "id": "m2"}),
        session_line(
            6, "user", [{"type": "tool_result", "tool_use_id": "t2", "content": "1 failed", "is_error": True}]
        ),
        session_line(7, "assistant", [{"type": "text", "text": "It fails."}], message={**answer, "id": "m3"}),
        session_line(8, "user", [{"type": "text", "text": "thanks"}]),
        session_line(9, "assistant", [{"type": "text", "text": "Welcome."}], message={**answer, "id": "m4"}),
    ]


def test_a_claude_code_session_is_a_run_for_each_prompt(tmp_path: Path) -> None:
    first, second = runs_of(tmp_path, jsonl(session()))
    assert told(first.lines)[:-1] == [
        ("user", "", "fix it", False),
        ("assistant", "", "I look.", False),
        ("assistant", "Read", {"file_path": "a.py"}, False),
        ("tool", "Read", "x = 1", False),
        ("assistant", "Bash", {"command": "pytest"}, True),
        ("tool", "Bash", "1 failed", True),
        ("assistant", "", "It fails.", False),
    ]
    assert (first.agent, first.final_text, first.service_version) == ("claude-code", "It fails.", "2.1.0")
    assert [line.text for line in second.lines if line.text][:2] == ["thanks", "Welcome."]
    assert [run.run_id for run in runs_of(tmp_path, jsonl(session()))] == [first.run_id, second.run_id]


def test_a_sub_agents_lines_are_one_deeper(tmp_path: Path) -> None:
    records = session()[:8]
    inner = {"type": "tool_use", "id": "t9", "name": "Grep", "input": {"pattern": "x"}}
    records.insert(5, session_line(5, "assistant", [inner], isSidechain=True, message={"id": "m9", "model": "c"}))
    (run,) = runs_of(tmp_path, jsonl(records))
    assert {line.tool: line.depth for line in run.lines if line.role == "assistant" and line.tool} == {
        "Read": 0,
        "Grep": 1,
        "Bash": 0,
    }


LESSON: list[Row] = [
    {"n": 1, "role": "user", "text": "Fix the rounding bug in invoice totals."},
    {"n": 2, "role": "assistant", "tool": "Edit", "input": {"file_path": "src/invoice.py"}},
    {"n": 3, "role": "assistant", "tool": "Bash", "input": {"command": "uv run pytest -q"}},
    {"n": 4, "role": "tool", "tool": "Bash", "output": "1 failed, 41 passed"},
    {"n": 5, "role": "assistant", "tool": "Edit", "input": {"file_path": "tests/test_invoice.py"}},
    {"n": 6, "role": "assistant", "text": "Fixed; all tests pass."},
    {"n": 7, "role": "result", "subtype": "success", "num_turns": 4, "cost_usd": 0.25},
]


def test_trace_lines_come_back_as_they_were(tmp_path: Path) -> None:
    runs = runs_of(tmp_path, jsonl([*LESSON, *LESSON]))
    assert len({run.run_id for run in runs}) == 2
    for run in runs:
        assert [line.n for line in run.lines] == [line["n"] for line in LESSON]
        for line, sent in zip(run.lines, LESSON, strict=True):
            names = ("role", "tool", "input", "output", "subtype", "cost_usd")
            for name in names:
                assert (getattr(line, name) or None) == sent.get(name), (line, sent)


def test_jaeger_gives_the_spans_it_was_given(tmp_path: Path) -> None:
    """Jaeger's own export of a recorded trace, tags and all, tells the same run."""
    spans, _ = capture("pydantic_ai_v2_default")
    wanted = assemble(of_spans(spans), closed_by="end").runs

    def tag(key: str, value: Any) -> Row:
        if isinstance(value, bool):
            return {"key": key, "type": "bool", "value": value}
        if isinstance(value, int):
            return {"key": key, "type": "int64", "value": value}
        if isinstance(value, float):
            return {"key": key, "type": "float64", "value": value}
        return {"key": key, "type": "string", "value": value if isinstance(value, str) else json.dumps(value)}

    traces: dict[str, list[Row]] = {}
    for span in spans:
        tags = [tag(key, value) for key, value in span.attributes.items()]
        tags += [tag("otel.scope.name", span.scope.name)]
        tags += [tag("otel.status_code", "ERROR"), tag("error", True)] if span.status_code == 2 else []
        parent = {"refType": "CHILD_OF", "traceID": span.trace_id, "spanID": span.parent_span_id}
        told = {
            "traceID": span.trace_id, "spanID": span.span_id, "operationName": span.name, "processID": "p1",
            "references": [parent] if span.parent_span_id else [], "startTime": span.start_ns // 1000,
            "duration": (span.end_ns - span.start_ns) // 1000, "tags": tags, "logs": [],
        }  # fmt: skip
        traces.setdefault(span.trace_id, []).append(told)
    processes = {"p1": {"serviceName": spans[0].resource.attributes["service.name"], "tags": []}}
    data = [{"traceID": key, "spans": some, "processes": processes} for key, some in traces.items()]
    for content in (json.dumps({"data": data}), json.dumps({"data": data}, indent=2)):
        found = runs_of(tmp_path, content)
        assert [run.run_id for run in found] == [run.run_id for run in wanted]
        assert [_calls(run) for run in found] == [_calls(run) for run in wanted]


def _calls(run: Run) -> list[Any]:
    return [(line.role, line.tool, line.input, line.output) for line in run.lines if line.tool]


def test_a_file_that_only_seems_so_is_a_problem_not_an_end(tmp_path: Path) -> None:
    for content in (
        '{"data": [{"traceID": 1, "spans": [7]}]}',
        '{"n": 1, "role": "user", "text": 7, "start": {}}\n[]\n',
    ):
        path = tmp_path / "file"
        path.write_text(content)
        items = list(read_file(path))
        assert items
        assert all(isinstance(item, FileProblem | FileRequest) for item in items)
