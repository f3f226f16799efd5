"""Exported and imported into an empty store: the same tasks, trials, outcomes by source, results and lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from collector.cli.client import api, run_path
from collector.cli.options import Source
from tests.cli.commands import here
from tests.support.serving import ROOT

CASES = ("I17_three_trials_in_one_trace", "I13_tool_arguments_in_many_encodings")
CAPTURES = ("claude_code_full", "openinference_langchain", "edge_pydantic_ai_apierror")
# Of an imported run these are its own: it came as other spans.
OWN = {"graded_at", "trace_ids", "span_count", "closed_by", "attributes", "lossy", "revision", "flags"}
OWN_OF_LINES = {"dialect", "trace_id", "span_id", "flags", "input_state"}
Row = dict[str, Any]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where the commands run; the names of evaluations there are not those that an export writes."""
    made = tmp_path_factory.mktemp("round")
    (made / "passhat.yaml").write_text("spool: {min_free_bytes: 0}\ntrials: {outcome_events: [graded]}\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        yield made


def ingest(data: str, *files: str) -> None:
    done = here("ingest", *files, "--data", data, "--json")
    told = json.loads(done.stdout)
    assert (done.returncode, told["problems"], told["refused"]) == (0, [], 0), done.stderr


def told_by(data: str) -> tuple[dict[str, Row], dict[str, bytes]]:
    """Every run by its id as the API tells it, and both exports."""
    with api(Source(data=Path(data))) as ask:
        runs = ask.get("/api/v1/runs", {"limit": 1000})["runs"]
        told = {run["run_id"]: ask.get(run_path(run["run_id"])) for run in runs}
        forms = {form: ask.asked("GET", "/api/v1/export", params={"form": form}).content for form in ("lines", "otlp")}
    return told, forms


@pytest.fixture(scope="module")
def first(folder: Path) -> tuple[dict[str, Row], dict[str, bytes]]:
    """A store of recorded runs, with outcomes of every source given over the API before they came."""
    files = [
        str(file) for name in CAPTURES for file in sorted((ROOT / "tests" / "captures" / name).glob("*_traces.pb"))
    ]
    for case in CASES:
        body = json.loads((ROOT / "tests" / "cases" / f"{case}.json").read_text())["requests"][0]["body"]
        (folder / f"{case}.json").write_text(json.dumps(body))
        files.append(f"{case}.json")
    spans = json.loads(Path(files[-2]).read_text())["resourceSpans"][0]["scopeSpans"][0]["spans"]
    trace = spans[0]["traceId"]
    roots = [
        span["spanId"] for span in spans if any(a["key"] == "passhat.trial.id" for a in span.get("attributes", ()))
    ]
    said = [
        {"run_id": f"{trace}:{roots[0]}", "result": "fail", "source": "environment", "reason": "row missing"},
        {"run_id": f"{trace}:{roots[0]}", "result": "pass", "source": "human", "time": "2026-10-26T08:00:00.123Z"},
        {"run_id": f"{trace}:{roots[1]}", "result": "fail", "source": "judge", "score": 0.25, "reason": "no"},
        {"run_id": f"{trace}:{roots[2]}", "result": "invalid", "source": "harness"},
    ]
    (folder / "first").mkdir()
    with api(Source(data=folder / "first")) as ask:
        ask.post("/api/v1/outcomes", said)
    ingest("first", *files)
    told, forms = told_by("first")
    assert sum(len(one["outcomes"]) for one in told.values()) >= len(said)
    assert {outcome["source"] for one in told.values() for outcome in one["outcomes"]} >= {
        "human",
        "environment",
        "judge",
    }
    return told, forms


@pytest.mark.parametrize("form", ["lines", "otlp"])
def test_what_is_exported_comes_back_as_it_was(
    first: tuple[dict[str, Row], dict[str, bytes]], folder: Path, form: str
) -> None:
    told, forms = first
    (folder / "exported.jsonl").write_bytes(forms[form])
    ingest(form, "exported.jsonl")
    again, forms_again = told_by(form)
    assert set(again) == set(told)
    for run_id, was in told.items():
        now = again[run_id]
        assert statements(now) == statements(was), run_id
        assert without(now["run"], OWN) == without(was["run"], OWN), run_id
        assert [without(line, OWN_OF_LINES) for line in now["lines"]] == [
            without(line, OWN_OF_LINES) for line in was["lines"]
        ], run_id
        assert {v["check_id"]: v["status"] for v in now["verdicts"]} == {
            v["check_id"]: v["status"] for v in was["verdicts"]
        }
    own = OWN_OF_LINES if form == "lines" else set()
    assert [without(line, own) for line in lines_of(forms_again["lines"])] == [
        without(line, own) for line in lines_of(forms["lines"])
    ]
    if form == "otlp":
        assert records_of(forms_again["otlp"]) | people(forms["otlp"]) == records_of(forms["otlp"])


def without(row: Row, keys: set[str]) -> Row:
    return {key: value for key, value in row.items() if key not in keys}


def statements(told: Row) -> list[tuple[Any, ...]]:
    keys = ("source", "result", "reason", "score", "time")
    return sorted(tuple(str(outcome[key]) for key in keys) for outcome in told["outcomes"])


def lines_of(exported: bytes) -> list[Row]:
    lines: list[Row] = [json.loads(line) for line in exported.splitlines()]
    for line in lines:
        for outcome in line.get("outcomes", ()):
            outcome.pop("id", None)
    return lines


def records_of(exported: bytes) -> set[str]:
    """Every span and log record of an OTLP export, whatever request it is in."""
    found = set()
    for line in exported.splitlines():
        for group in json.loads(line).get("resourceSpans", []) + json.loads(line).get("resourceLogs", []):
            for scope in group.get("scopeSpans", []) + group.get("scopeLogs", []):
                for record in scope.get("spans", []) + scope.get("logRecords", []):
                    record["attributes"] = sorted(record["attributes"], key=lambda one: str(one["key"]))
                    kept = {key: value for key, value in record.items() if value not in ("", 0, "0", [], {}, None)}
                    found.add(json.dumps(kept, sort_keys=True))
    return found


def people(exported: bytes) -> set[str]:
    return {record for record in records_of(exported) if '"stringValue": "human"' in record}
