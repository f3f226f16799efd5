"""Exports of Langfuse, Phoenix and MLflow: the calls they hold, and files that are not what they seem.

`exported/` was written by MLflow 3.17 (`Trace.to_json`, `search_traces`) and Phoenix 20.26 (its server's API, its
client's data frame) around one small agent, and by the models of Langfuse's client 5.0 from what its SDK had sent: no
Langfuse server ran here, so its trace with `observations` is made of the same rows by the documented form.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from collector.receive.files import FileProblem, FileRequest, read_file
from semconv.run import Run
from tests.collector.assemble.build import runs_of as assembled
from tests.collector.assemble.recorded import of_capture
from tests.collector.receive.imports.test_imports import runs_of

EXPORTED = Path(__file__).parent / "exported"
Change = Callable[[Any], None]


def text(name: str) -> str:
    return (EXPORTED / name).read_text()


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text(name).splitlines()]


def calls(run: Run) -> list[tuple[str, Any, Any, bool]]:
    return [
        (line.tool, line.input or line.output, line.role, line.status == "error") for line in run.lines if line.tool
    ]


@pytest.mark.parametrize(
    "name",
    [
        "mlflow_traces.jsonl",
        "mlflow_search_traces.jsonl",
        "phoenix_api.json",
        "phoenix_dataframe.json",
        "phoenix_dataframe.jsonl",
    ],
)
def test_what_a_library_exported_is_the_run_it_traced(tmp_path: Path, name: str) -> None:
    """One question answered with a call, and a call outside any agent that raised."""
    runs = {run.agent: run for run in runs_of(tmp_path, text(name))}
    whole = runs.pop("orders")
    assert [(line.role, line.tool, line.input or line.output or line.text) for line in whole.lines] == [
        ("user", "", "Where is order A1?"),
        ("assistant", "get_order", {"order_id": "A1"}),
        ("tool", "get_order", "order A1: shipped"),
        ("assistant", "", "I looked: order A1: shipped"),
        ("result", "", "I looked: order A1: shipped"),
    ]
    assert (whole.input_tokens, whole.output_tokens) == (20, 10)
    (failed,) = runs.values()
    assert calls(failed)[0] == ("get_order", {"order_id": "A9"}, "assistant", True)
    assert failed.lines[1].error == "no such order"


def langfuse_trace() -> str:
    """A trace as the page downloads it and the API gives it: rows under `observations`."""
    found = rows("langfuse_observations.jsonl")
    return json.dumps({"id": found[0]["traceId"], "name": "t", "sessionId": "s-1", "observations": found}, indent=1)


@pytest.mark.parametrize(
    "content",
    [
        lambda: text("langfuse_observations.jsonl"),
        lambda: json.dumps(rows("langfuse_observations.jsonl")),
        lambda: json.dumps({"data": rows("langfuse_observations.jsonl"), "meta": {"cursor": None}}),
        langfuse_trace,
        lambda: json.dumps({"trace": {"id": "x"}, "observations": rows("langfuse_observations.jsonl")}),
    ],
    ids=["lines", "list", "page", "trace", "download"],
)
def test_langfuse_tells_what_its_sdk_had_sent(tmp_path: Path, content: Callable[[], str]) -> None:
    (sent,) = assembled(of_capture("langfuse_openai"))
    (run,) = runs_of(tmp_path, content())
    assert run.run_id == sent.run_id
    assert calls(run) == calls(sent)
    assert [line.text for line in run.lines] == [line.text for line in sent.lines]
    assert (run.input_tokens, run.output_tokens) == (sent.input_tokens, sent.output_tokens)


def read(folder: Path, content: str) -> tuple[list[FileRequest], list[str]]:
    path = folder / "file"
    path.write_text(content)
    items = list(read_file(path))
    problems = [f"{item.where}: {item.why}" for item in items if isinstance(item, FileProblem)]
    return [item for item in items if isinstance(item, FileRequest)], problems


def without(*names: str) -> Change:
    return lambda span: [span.pop(name) for name in names]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (without("start_time"), "span 3: `start_time` is missing"),
        (lambda span: span.update(start_time="yesterday"), "span 3: `start_time` is no time: 'yesterday'"),
        (lambda span: span.update(parent_id="17"), "span 3: `parent_id` is no id of 8 bytes in hex: '17'"),
        (lambda span: span.update(attributes=7), "span 3: not of the form expected here"),
    ],
)
def test_a_bad_span_leaves_out_its_trace_and_says_where(tmp_path: Path, change: Change, said: str) -> None:
    """A run without one of its spans would be judged by what is left."""
    page = json.loads(text("phoenix_api.json"))
    change(page["data"][2])
    requests, problems = read(tmp_path, json.dumps(page))
    assert len(requests) == 1  # the other trace
    assert problems[0] == f"{tmp_path / 'file'}:1: {said}"
    assert "left out as a whole, because of span 3" in problems[1]


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("mlflow_traces.jsonl", lambda one: one["data"]["spans"][0].pop("trace_id"), "spans[0]: `trace_id` is missing"),
        ("mlflow_traces.jsonl", lambda one: one["data"]["spans"].append(7), "not of the form expected here"),
        ("langfuse_observations.jsonl", lambda row: row.pop("id"), "observation 1: `id` is missing"),
        ("langfuse_observations.jsonl", lambda row: row.update(endTime=True), "1: `endTime` is no time: 'True'"),
    ],
)  # fmt: skip
def test_the_place_is_named_in_each_form(tmp_path: Path, name: str, change: Change, said: str) -> None:
    first, *rest = rows(name)
    change(first)
    _, problems = read(tmp_path, "".join(json.dumps(row) + "\n" for row in (first, *rest)))
    assert any(said in problem for problem in problems)


def test_a_line_that_is_cut_off_is_told(tmp_path: Path) -> None:
    _, problems = read(tmp_path, text("langfuse_observations.jsonl")[:-40])
    assert ["not a JSON object" in problem for problem in problems] == [True]


def test_one_page_of_several_is_told(tmp_path: Path) -> None:
    page = {**json.loads(text("phoenix_api.json")), "next_cursor": "U3Bhbjo2"}
    requests, problems = read(tmp_path, json.dumps(page))
    assert (len(requests), len(problems)) == (2, 1)
    assert "there are more pages" in problems[0]
