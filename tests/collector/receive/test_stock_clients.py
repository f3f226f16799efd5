"""Every stock client through every fault of the network: what it sent is there, whatever happened on the way."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from opentelemetry.sdk.trace.export import SpanExportResult

from tests.collector.receive.build import as_json, span, span_id, traces
from tests.collector.receive.faults import FAULTS, grpc_faults, http_faults
from tests.collector.receive.serving import Listeners
from tests.collector.receive.test_exporters import EXPORTERS, key, made_spans

JS = Path(__file__).parent / "js"
SPANS = 1000
BATCH = 250


def stored(listeners: Listeners) -> set[tuple[str, str]]:
    return {(s.trace_id, s.span_id) for s in listeners.spans()}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("kind", [kind for kind in EXPORTERS if kind != "grpc"])
def test_python_http_exporters(listeners: Listeners, kind: str, fault: str, caplog: pytest.LogCaptureFixture) -> None:
    with http_faults(listeners.http, fault) as proxy:
        exporter = EXPORTERS[kind](proxy, 10)
        spans = made_spans(SPANS)
        for start in range(0, SPANS, BATCH):
            assert exporter.export(spans[start : start + BATCH]) == SpanExportResult.SUCCESS
        exporter.shutdown()
        assert proxy.struck
    assert stored(listeners) == {key(s) for s in spans}
    assert not [r for r in caplog.records if r.name.startswith("opentelemetry") and r.levelname == "ERROR"]


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault not in ("503 for 3 s", "duplicate")])
def test_the_python_grpc_exporter(listeners: Listeners, fault: str, caplog: pytest.LogCaptureFixture) -> None:
    """A full spool (503 over HTTP) is in test_exporters; nothing repeats a call of HTTP/2 but its client."""
    with grpc_faults(listeners.grpc, fault) as proxy:
        exporter = EXPORTERS["grpc"](proxy, 10)
        spans = made_spans(SPANS)
        for start in range(0, SPANS, BATCH):
            assert exporter.export(spans[start : start + BATCH]) == SpanExportResult.SUCCESS
        exporter.shutdown()
        assert proxy.struck
    assert stored(listeners) == {key(s) for s in spans}
    assert not [r for r in caplog.records if r.name.startswith("opentelemetry") and r.levelname == "ERROR"]


@pytest.fixture(scope="session")
def javascript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the JavaScript SDK, installed once from the registry npm is set up for."""
    if not shutil.which("npm"):
        pytest.skip("no npm on this machine: the JavaScript client cannot be tried")
    folder = tmp_path_factory.mktemp("js")
    for name in ("package.json", "send.cjs"):
        shutil.copy(JS / name, folder / name)
    command = ["npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts"]
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=180)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"npm could not install the JavaScript SDK: {error}")
    return folder


@pytest.mark.parametrize("fault", FAULTS)
def test_the_javascript_json_exporter(listeners: Listeners, javascript: Path, fault: str) -> None:
    with http_faults(listeners.http, fault) as proxy:
        command = ["node", "send.cjs", f"{proxy.http}/v1/traces", str(SPANS)]
        ran = subprocess.run(command, cwd=javascript, capture_output=True, text=True, timeout=120, check=False)
        assert (ran.returncode, ran.stderr) == (0, "")
        assert proxy.struck
    assert stored(listeners) == {(trace, its) for trace, its in json.loads(ran.stdout)}
    one = next(s for s in listeners.spans() if s.name == "span 7")
    assert one.attributes == {"i": 7, "list": ["a", "b"], "half": 0.5}
    assert one.resource.attributes["service.name"] == "javascript"


@pytest.mark.parametrize("fault", FAULTS)
def test_curl(listeners: Listeners, tmp_path: Path, fault: str) -> None:
    if not shutil.which("curl"):
        pytest.skip("no curl on this machine")
    body = tmp_path / "body.json"
    body.write_bytes(as_json(traces(*(span(n) for n in range(1, SPANS + 1)))))
    with http_faults(listeners.http, fault) as proxy:
        command = ["curl", "--silent", "--show-error", "--fail", "--retry", "6", "--retry-all-errors", "--noproxy", "*"]
        command += ["-H", "Content-Type: application/json", "--data-binary", f"@{body}", f"{proxy.http}/v1/traces"]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert (ran.returncode, ran.stdout) == (0, "{}")
        assert proxy.struck
    assert {s.span_id for s in listeners.spans()} == {span_id(n).hex() for n in range(1, SPANS + 1)}


def test_curl_waits_for_a_100_before_a_large_body(listeners: Listeners, tmp_path: Path) -> None:
    if not shutil.which("curl"):
        pytest.skip("no curl on this machine")
    body = tmp_path / "body.pb"
    body.write_bytes(traces(span(1, {"large": "x" * (2 << 20)})).SerializeToString())
    command = ["curl", "--silent", "--fail", "--noproxy", "*", "-H", "Expect: 100-continue"]
    command += ["-H", "Content-Type: application/x-protobuf", "--data-binary", f"@{body}"]
    assert subprocess.run([*command, f"{listeners.http}/v1/traces"], timeout=60, check=False).returncode == 0
    assert len(listeners.spans()) == 1
