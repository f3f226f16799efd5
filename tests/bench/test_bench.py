"""The measurements run, count what they sent, and tell it in the shape they promise. No figure is tested."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from bench.batches import requests
from bench.telling import table
from collector.normalise.unpack import spans_of
from tests.house.source_tree import ROOT


def told(module: str, *arguments: str) -> Any:
    command = [sys.executable, "-m", f"bench.{module}", *arguments, "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_requests_hold_new_spans_of_the_promised_size() -> None:
    made = list(requests(3_000))
    spans = [span for request in made for span in spans_of(request.payload)]
    assert len(spans) == sum(request.spans for request in made) >= 3_000
    assert len({(span.trace_id, span.span_id) for span in spans}) == len(spans)
    assert 800 < sum(len(request.payload) for request in made) / len(spans) < 1000
    roots = [span for span in spans if not span.parent_span_id]
    assert {span.trace_id for span in roots} == {span.trace_id for span in spans}


def test_every_span_sent_over_either_transport_can_be_queried() -> None:
    figures = told("ingest", "--spans", "2000", "--grading", "on", "--no-half-load")
    assert [row["transport"] for row in figures["full_load"]] == ["http", "grpc"]
    for row in figures["full_load"]:
        assert row["spans"] == row["queryable"] == 2040
        assert row["refused"] == 0
        assert row["spans_per_s"] > 0
        assert row["of_floor"] == pytest.approx(row["spans_per_s"] / max(figures["floor_spans_per_s"]), abs=0.01)
    assert figures["half_load"] == []


def test_the_other_measurements_tell_their_figures() -> None:
    assert {row["step"] for row in told("normalise", "--spans", "1000")} >= {
        "unpack",
        "facts",
        "rows",
        "columns",
        "all",
    }
    graded = told("grade", "--runs", "20")
    assert all(25 < row["lines_per_run"] < 35 for row in graded)
    assert len(graded) == 3
    (lag,) = told("verdicts", "--spans", "510", "--seconds", "0.5")
    assert lag["runs"] > 0
    assert -0.1 < lag["p50_s"] <= lag["p99_s"] <= lag["longest_s"]
    views = told("reliability", "--tasks", "10", "--days", "7", "--trials", "2000")
    small, large = views[: len(views) // 2], views[len(views) // 2 :]
    assert [row["view"] for row in small] == [row["view"] for row in large]
    assert all(10 * one["trials"] == ten["trials"] for one, ten in zip(small, large, strict=True))


def test_tables_are_aligned() -> None:
    assert table([{"a": 1, "long": "x"}, {"a": 1000, "long": "yy"}]) == "   a  long\n   1     x\n1000    yy"
