"""A secret that an agent saw is nowhere on the disk of a real collector: not in its spool, its store, its log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.collector.receive.build import span, traces
from tests.collector.redact.build import SAMPLES
from tests.support.canary import files_with
from tests.support.serving import Serving, until

SECRETS = {kind: secret for kind, _, secret in SAMPLES if kind in ("openai", "github", "aws", "jwt")}


def run_of_two_calls(trace: int) -> bytes:
    """An agent that twice runs the same command and once another, each with a secret in it."""
    one, other = SECRETS["openai"], SECRETS["github"]
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "Bash"}
    call, trace_id = "gen_ai.tool.call.arguments", trace.to_bytes(16, "big")
    spans = [span(1, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a"}, trace_id=trace_id)]
    for number, secret in ((2, one), (3, one), (4, other)):
        arguments = json.dumps({"command": f"curl -H 'Authorization: Bearer {secret}' https://x"})
        values = {**tool, call: arguments, "gen_ai.tool.call.id": f"c{number}", "gen_ai.tool.call.result": secret}
        spans.append(span(number, values, trace_id=trace_id, parent_span_id=(1).to_bytes(8, "big")))
    return traces(*spans, resource={"service.name": "demo", "env": SECRETS["aws"]}).SerializeToString()


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with Serving(tmp_path_factory.mktemp("redaction")) as running:
        yield running


def lines_of(serving: Serving) -> list[dict[str, Any]]:
    runs = until(
        lambda: serving.get("/api/v1/runs")["runs"], lambda found: bool(found) and found[0]["result"] != "pending"
    )
    return list(serving.get(f"/api/v1/runs/{runs[0]['run_id']}")["lines"])


def test_no_byte_of_a_secret_is_on_disk_and_different_calls_stay_different(serving: Serving) -> None:
    assert serving.post_traces(run_of_two_calls(1), "application/x-protobuf").status_code == 200
    calls = [line["input"]["command"] for line in lines_of(serving) if line["role"] == "assistant" and line.get("tool")]
    assert len(calls) == 3
    assert calls[0] == calls[1] != calls[2]
    assert all("[redacted:" in call for call in calls)
    serving.drained()
    assert serving.stop() == 0
    secrets = [secret.encode() for secret in SECRETS.values()]
    assert files_with(serving.folder, secrets) == []


def test_what_was_redacted_is_counted_by_kind(tmp_path: Path) -> None:
    import httpx

    with Serving(tmp_path, {"redact": {"content": "off"}}) as serving:
        assert serving.post_traces(run_of_two_calls(2), "application/x-protobuf").status_code == 200
        told = httpx.get(f"http://{serving.web}/metrics", timeout=30).text
        assert 'passhat_redacted_total{kind="aws"} 1.0' in told
        assert 'passhat_redacted_total{kind="content"} 6.0' in told
        lines = [line for line in lines_of(serving) if line["role"] == "assistant" and line.get("tool")]
        assert [(line["tool"], line["input_state"]) for line in lines] == [("Bash", "not_captured")] * 3
