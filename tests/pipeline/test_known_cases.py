"""Reported faults of security and of running that need a whole collector to show (docs/known-cases.md)."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest

from tests.collector.receive.build import span, traces
from tests.support.serving import Serving, until
from tests.support.stores import Front

CASES = Path(__file__).resolve().parents[1] / "cases"
TASK = "t'); DROP TABLE spans; --"
RUN = "a0000000000000000000000000000015"
CANARY = "canary-5b1f07d2"
MOST_S = 30.0  # ten each for drain and grading, and a slow machine
HANGS = {"id": "hangs", "kind": "python", "function": "hanging:hangs", "timeout_s": 600}


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with Serving(tmp_path_factory.mktemp("known")) as running:
        yield running


def web(serving: Serving, method: str, path: str, **more: Any) -> httpx.Response:
    return httpx.request(method, f"http://{serving.web}{path}", timeout=30, **more)


def logged(serving: Serving) -> list[dict[str, Any]]:
    """Every line of the log: one JSON object each, or this fails."""
    return [json.loads(line) for line in serving.log.read_text().splitlines()]


# --- B176, B178: names are data ---------------------------------------------------------------------------------------


def test_b176_b178_markup_and_sql_in_names_are_data_everywhere(serving: Serving) -> None:
    """I21, over every way out: lists, one run, exports, SQL, metrics, cases, the log."""
    [path] = CASES.glob("I21_*.json")
    case = json.loads(path.read_text())
    assert serving.post_traces(case["requests"][0]["body"]).status_code == 200
    until(
        lambda: web(serving, "GET", "/api/v1/runs", params={"task": TASK}).json()["runs"],
        lambda found: len(found) == 1 and found[0]["result"] != "pending",
    )
    for other in (TASK + "'", TASK[:-1], "%", "t' OR 1=1 --", "' OR ''='"):
        assert web(serving, "GET", "/api/v1/runs", params={"task": other}).json()["runs"] == [], other
    for name in ("sort", "order", "task_id; DROP TABLE spans"):  # no column is chosen by a request
        assert web(serving, "GET", "/api/v1/runs", params={name: "ended"}).status_code == 400
    told = web(serving, "GET", f"/api/v1/runs/{RUN}").json()
    [call] = [line for line in told["lines"] if line.get("tool") and line["role"] == "assistant"]
    assert (call["tool"], call["input"]) == ("${__user.token}{{x}}", {"q": "</script><script>alert(1)</script>"})
    for form in ("lines", "otlp"):
        exported = web(serving, "GET", "/api/v1/export", params={"form": form, "run": RUN})
        assert "onerror=alert(1)" in exported.text or form == "lines"
        assert all(isinstance(json.loads(line), dict) for line in exported.text.splitlines())
    sql = "SELECT count() FROM trials WHERE task_id = {t:String}"
    asked = web(serving, "GET", "/clickhouse/", params={"query": sql, "param_t": TASK})
    assert (asked.status_code, asked.text.strip()) == (200, "1")
    page = web(serving, "GET", "/docs")
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert "<script" not in page.text
    metrics = web(serving, "GET", "/metrics")
    assert all(line.startswith(("#", "passhat_")) for line in metrics.text.splitlines())
    mined = web(serving, "POST", "/api/v1/cases", json={"run_id": RUN})
    assert mined.status_code == 200
    types = {reply.headers["Content-Type"].partition(";")[0] for reply in (asked, metrics, mined, exported)}
    assert "text/html" not in types
    assert [line for line in logged(serving) if line.get("level") == "error"] == []


# --- B187: what was sent is in no reply and no log --------------------------------------------------------------------


def broken_bodies() -> Iterator[tuple[str, str, bytes]]:
    """Path, content type and body of requests that are refused, or kept with repairs; each holds the canary."""
    whole = {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": CANARY, "spanId": CANARY, "name": CANARY}]}]}]}
    text = json.dumps(whole)
    ids = text.replace(f'"spanId": "{CANARY}"', '"spanId": "b000000000000001"')
    for body in (text, ids, text[:-3], text.replace('"name": ', '"kind": '), f'"{CANARY}"', CANARY):
        yield "/v1/traces", "application/json", body.encode()
        yield "/v1/logs", "application/json", body.replace("Spans", "Logs").replace('"spans"', '"logRecords"').encode()
    made = traces(span(1, {CANARY: CANARY}, name=CANARY, trace_id=b"short")).SerializeToString()
    for binary in (made, made[:-2], CANARY.encode(), made.replace(CANARY.encode(), b"\xff" + CANARY.encode()[1:], 1)):
        yield "/v1/traces", "application/x-protobuf", binary


def test_b187_nothing_of_a_body_is_in_a_reply_or_in_the_log(serving: Serving) -> None:
    for path, media, body in broken_bodies():
        reply = httpx.post(f"http://{serving.http}{path}", content=body, headers={"Content-Type": media}, timeout=30)
        assert CANARY.encode() not in reply.content, (path, media, body)
        zipped = {"Content-Type": media, "Content-Encoding": "gzip"}
        assert CANARY.encode() not in httpx.post(f"http://{serving.http}{path}", content=body, headers=zipped).content
    with grpc.insecure_channel(serving.grpc) as channel:
        export = channel.unary_unary("/opentelemetry.proto.collector.trace.v1.TraceService/Export")
        for _, media, body in broken_bodies():
            if "protobuf" in media:
                try:
                    said = repr(export(body, timeout=30))
                except grpc.RpcError as error:
                    said = repr((error.details(), error.trailing_metadata()))  # type: ignore[attr-defined]
                assert CANARY not in said
    for path in ("outcomes", "freeze", "cases", "checks/test"):
        for content in (f"[{CANARY}", f'{{"run_id": {{"{CANARY}": 1}}, "result": "{CANARY}"}}', f'"{CANARY}"'):
            told = web(
                serving, "POST", f"/api/v1/{path}", content=content, headers={"Content-Type": "application/json"}
            )
            assert told.status_code < 500
            assert CANARY not in told.text
    serving.drained()
    assert CANARY not in json.dumps(logged(serving))


# --- B196: a stop ends in time ----------------------------------------------------------------------------------------


def test_b196_a_stop_ends_though_the_store_answers_no_more_and_a_check_hangs(tmp_path: Path) -> None:
    (tmp_path / "hanging.py").write_text("import time\n\ndef hangs(run):\n    time.sleep(3600)\n")
    front = Front(tmp_path / "engine")
    config = {"store": {"url": front.place().url}, "checks": [HANGS], "spool": {"drain_s": 3}}
    serving = Serving(tmp_path, config, {"PYTHONPATH": str(tmp_path)})
    try:
        serving.start()
        root = span(1, {"gen_ai.operation.name": "invoke_agent", "passhat.run.end": True})
        assert serving.post_traces(traces(root).SerializeToString(), "application/x-protobuf").status_code == 200
        serving.stored_all()
        front._process.send_signal(signal.SIGSTOP)
        assert serving.post_traces(traces(span(2)).SerializeToString(), "application/x-protobuf").status_code == 200
        began = time.monotonic()
        serving.stop()
        assert time.monotonic() - began < MOST_S
    finally:
        front._process.send_signal(signal.SIGCONT)
        if serving.process is not None and serving.process.poll() is None:
            serving.kill()
        front.stop()
