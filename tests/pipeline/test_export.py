"""What was exported is what was stored: posted to another passhat it gives the same rows; twice, the same bytes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest

from collector.serve.prefixes import prefixes_of
from tests.pipeline.test_regrade import passhat
from tests.support.serving import ROOT, Serving, until

CAPTURES = ROOT / "tests" / "captures"
SENT = ("pydantic_ai_v2_default", "claude_code_full", "openinference_langchain", "edge_pydantic_ai_apierror")
SPANS = """SELECT trace_id, span_id, parent_span_id, trace_state, trace_flags, name, kind, start_ns, end_ns,
    status_code, status_message, mapSort(attr_string) AS s, mapSort(attr_int) AS i, mapSort(attr_double) AS d,
    mapSort(attr_bool) AS b, mapSort(attr_other) AS o, events, links, resource, scope, dropped_attributes,
    dropped_events, dropped_links, facts FROM spans FINAL ORDER BY trace_id, span_id"""
LOGS = """SELECT unit, toString(time_ns), toString(observed_ns), trace_id, span_id, trace_flags, event_name, body,
    severity_number, severity_text, mapSort(attr_string) AS s, mapSort(attr_int) AS i, mapSort(attr_other) AS o,
    resource, scope, facts FROM logs FINAL WHERE unit != '' ORDER BY ALL"""
Row = dict[str, Any]


def post(serving: Serving, signal: str, body: bytes, kind: str) -> None:
    url = f"http://{serving.http}/v1/{signal}"
    assert httpx.post(url, content=body, headers={"Content-Type": kind}, timeout=30).status_code == 200


def send(serving: Serving) -> None:
    for name in SENT:
        for file in sorted((CAPTURES / name).glob("*.pb")):
            signal = file.stem.split("_")[1]
            if signal in ("traces", "logs"):
                post(serving, signal, file.read_bytes(), "application/x-protobuf")


def exported(serving: Serving, *words: str) -> bytes:
    command = [sys.executable, "-m", "collector", "export", *words]
    env = {**os.environ, "PASSHAT_SERVER": f"http://{serving.web}"}
    done = subprocess.run(command, capture_output=True, cwd=ROOT, env=env, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with Serving(tmp_path_factory.mktemp("export")) as one:
        send(one)
        one.drained()
        until(lambda: one.get("/api/v1/runs")["runs"], lambda runs: len(runs) >= len(SENT))
        yield one
        assert one.stop() == 0


def test_lines_are_the_same_bytes_twice_and_one_file_a_run(serving: Serving, tmp_path: Path) -> None:
    whole = exported(serving)
    assert exported(serving) == whole
    runs = [run["run_id"] for run in serving.get("/api/v1/runs")["runs"]]
    lines = [json.loads(line) for line in whole.splitlines()]
    assert list(dict.fromkeys(line["run_id"] for line in lines)) == runs
    one = exported(serving, "--run", runs[0])
    assert one
    assert whole.startswith(one)
    out = tmp_path / "run.jsonl"
    exported(serving, "--run", runs[0], "--out", str(out))
    assert out.read_bytes() == one
    told = serving.get(f"/api/v1/runs/{runs[0]}")["lines"]
    first_of_run, *others = (json.loads(line) for line in one.splitlines())
    assert others == told[1:]
    assert {key: first_of_run[key] for key in told[0]} == told[0]
    assert first_of_run["project"] == "default"
    assert exported(serving, "--since", "2020-01-01T00:00:00Z", "--until", "2020-01-02T00:00:00Z") == b""
    first = list(lines[0])
    assert first[:2] == ["n", "role"]


def test_otlp_posted_to_another_gives_the_same_rows(serving: Serving, tmp_path: Path) -> None:
    file = tmp_path / "spans.jsonl"
    file.write_bytes(exported(serving, "--otlp"))
    spans, logs = passhat(serving, "query", SPANS), passhat(serving, "query", LOGS)
    told = exported(serving)
    assert spans
    assert logs
    with Serving(tmp_path / "second") as second:
        for line in file.read_bytes().splitlines():
            post(second, "traces" if b"resourceSpans" in line[:20] else "logs", line, "application/json")
        second.drained()
        wanted = len(serving.get("/api/v1/runs")["runs"])
        until(lambda: second.get("/api/v1/runs")["runs"], lambda runs: len(runs) == wanted)
        ids = {row["trace_id"] for row in passhat(second, "query", SPANS)}
        assert passhat(second, "query", SPANS) == [row for row in spans if row["trace_id"] in ids]
        assert passhat(second, "query", LOGS) == logs
        assert exported(second) == told
        assert exported(second, "--otlp").splitlines() == file.read_bytes().splitlines()
        assert second.stop() == 0


def test_prefixes_are_one_less_than_the_turns(serving: Serving) -> None:
    found = [json.loads(line) for line in exported(serving, "--prefixes").splitlines()]
    runs: dict[str, list[Row]] = {}
    for one in found:
        runs.setdefault(one["run_id"], []).append(one)
    assert runs
    for prefixes in runs.values():
        assert len(prefixes) == prefixes[0]["of"] - 1
        for before, after in pairwise(prefixes):
            assert after["messages"][: len(before["messages"]) + 1] == [*before["messages"], before["next"]]


def test_an_answer_has_the_id_of_its_call_where_neither_came_with_one() -> None:
    lines: list[Row] = [
        {"n": 1, "role": "user", "text": "go"},
        {"n": 2, "role": "assistant", "tool": "read", "input": {"a": 1}},
        {"n": 3, "role": "assistant", "tool": "read", "input": {"a": 2}},
        {"n": 4, "role": "assistant", "tool": "list", "input": {}},
        {"n": 5, "role": "tool", "tool": "read", "output": "1"},
        {"n": 6, "role": "tool", "tool": "list", "output": "[]"},
        {"n": 7, "role": "tool", "tool": "read", "output": "2"},
        {"n": 8, "role": "tool", "tool": "lost", "output": "?"},
        {"n": 9, "role": "assistant", "text": "done"},
    ]
    (only,) = prefixes_of(lines)
    asked = [call["id"] for call in only["messages"][1]["tool_calls"]]
    answered = [message["tool_call_id"] for message in only["messages"] if message["role"] == "tool"]
    assert (asked, answered) == (["call_2", "call_3", "call_4"], ["call_2", "call_4", "call_3", "call_8"])


def test_calls_of_one_message_are_one_turn() -> None:
    lines: list[Row] = [
        {"n": 1, "role": "user", "text": "go"},
        {"n": 2, "role": "assistant", "text": "looking", "message_id": "m1"},
        {"n": 3, "role": "assistant", "tool": "read", "input": {"a": 1}, "call_id": "c1", "message_id": "m1"},
        {"n": 4, "role": "tool", "tool": "read", "output": {"x": 2}, "call_id": "c1"},
        {"n": 5, "role": "assistant", "tool": "read", "input": {"a": 2}, "call_id": "c2", "message_id": "m1"},
        {"n": 6, "role": "assistant", "tool": "inner", "input": {}, "depth": 1},
        {"n": 7, "role": "tool", "tool": "read", "error": "no", "call_id": "c2"},
        {"n": 8, "role": "assistant", "text": "done", "message_id": "m2"},
        {"n": 9, "role": "result", "subtype": "success"},
    ]
    (only,) = prefixes_of(lines)
    assert (only["turn"], only["of"], only["next"]) == (2, 2, {"role": "assistant", "content": "done"})
    user, turn, first, second = only["messages"]
    assert (user["content"], turn["content"]) == ("go", "looking")
    assert [call["id"] for call in turn["tool_calls"]] == ["c1", "c2"]
    assert (first["content"], second["content"]) == ('{"x": 2}', "no")
