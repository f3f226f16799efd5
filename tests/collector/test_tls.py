"""TLS of all three listeners: versions, client certificates, and new files without a restart."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult

from collector.config import load
from collector.config.keys import TlsConfig
from collector.errors import UsageError
from collector.pipeline import Collector
from collector.tls import Certificates, certificates_of
from tests.support.certificates import Authority, openssl
from tests.support.serving import Serving

LISTENERS = ("grpc", "http", "web")


class Place:
    """A folder with an authority, the server's files, and a collector on them."""

    def __init__(self, folder: Path, *, client_ca: bool) -> None:
        self.authority = Authority(folder / "ca")
        self.cert, self.key = folder / "server.pem", folder / "server.key"
        self.client_ca = folder / "clients.pem"
        self.serve_as("first")
        shutil.copy(self.authority.ca, self.client_ca)
        ports = dict.fromkeys(LISTENERS, "127.0.0.1:0")
        tls = {"cert": self.cert, "key": self.key, **({"client_ca": self.client_ca} if client_ca else {})}
        listen = {**ports, "tls": {name: str(path) for name, path in tls.items()}}
        self.serving = Serving(folder / "collector", {"listen": listen}).start()

    def serve_as(self, name: str) -> None:
        """Put another certificate of the authority in the place of the server's."""
        for source, target in zip(self.authority.issue(name), (self.cert, self.key), strict=True):
            new = target.with_suffix(".new")
            shutil.copy(source, new)
            os.replace(new, target)

    def address(self, listener: str) -> tuple[str, int]:
        host, _, port = getattr(self.serving, listener).rpartition(":")
        return host, int(port)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    made = Place(tmp_path_factory.mktemp("tls"), client_ca=False)
    yield made
    made.serving.stop()


@pytest.fixture(scope="module")
def mutual(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    made = Place(tmp_path_factory.mktemp("mtls"), client_ca=True)
    yield made
    made.serving.stop()


def trusting(ca: Path, own: Path | None = None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=ca)
    if own is not None:
        context.load_cert_chain(own)
    return context


def common_name(at: tuple[str, int], context: ssl.SSLContext) -> str:
    """Whose certificate the server shows; the connection is used once, for TLS 1.3 refuses clients only then."""
    with socket.create_connection(at, timeout=10) as raw, context.wrap_socket(raw, server_hostname="localhost") as tls:
        shown: Any = tls.getpeercert()
        tls.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        if not tls.recv(1):
            raise ConnectionError("closed without an answer")
        return str(dict(pair[0] for pair in shown["subject"])["commonName"])


def grpc_context(context: ssl.SSLContext) -> ssl.SSLContext:
    context.set_alpn_protocols(["h2"])
    return context


def whose(place: Place, listener: str, own: Path | None = None) -> str:
    context = trusting(place.authority.ca, own)
    return common_name(place.address(listener), grpc_context(context) if listener == "grpc" else context)


# --- plain TLS ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("listener", LISTENERS)
def test_each_listener_shows_its_certificate_and_refuses_plain_talk(place: Place, listener: str) -> None:
    assert whose(place, listener)
    with socket.create_connection(place.address(listener), timeout=10) as plain:
        plain.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answer = plain.recv(100)
    assert b"HTTP/1.1" not in answer


@pytest.mark.parametrize("listener", LISTENERS)
def test_tls_below_1_2_is_refused(place: Place, listener: str) -> None:
    old = trusting(place.authority.ca)
    with pytest.warns(DeprecationWarning, match="TLSv1"):
        old.minimum_version = ssl.TLSVersion.TLSv1
    with pytest.warns(DeprecationWarning, match="TLSv1"):
        old.maximum_version = ssl.TLSVersion.TLSv1_1
    old.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.raises((ssl.SSLError, ConnectionError)):
        common_name(place.address(listener), old)
    exactly = trusting(place.authority.ca)
    exactly.maximum_version = ssl.TLSVersion.TLSv1_2
    assert common_name(place.address(listener), grpc_context(exactly) if listener == "grpc" else exactly)


class Told(SimpleSpanProcessor):
    """Exports each span at once, and remembers what the exporter said."""

    def on_end(self, span: ReadableSpan) -> None:
        self.result = self.span_exporter.export([span])


def test_stock_exporters_send_over_tls(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):  # they win over what an exporter is given
        monkeypatch.delenv(name, raising=False)
    credentials = grpc.ssl_channel_credentials(place.authority.ca.read_bytes())
    http, port = place.address("http")[1], place.address("grpc")[1]
    ca = str(place.authority.ca)
    for exporter in (
        HttpExporter(endpoint=f"https://localhost:{http}/v1/traces", certificate_file=ca, timeout=5),
        GrpcExporter(endpoint=f"https://localhost:{port}", credentials=credentials, timeout=5),
    ):
        told = Told(exporter)
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(told)
        provider.get_tracer("t").start_span("a").end()
        provider.shutdown()
        assert told.result is SpanExportResult.SUCCESS


def test_commands_ask_over_tls_with_the_ca_they_are_given(place: Place) -> None:
    command = [sys.executable, "-m", "collector", "runs", "--json", "--server", f"https://{place.serving.web}"]
    environment = {**os.environ, "PASSHAT_CA": str(place.authority.ca)}
    told = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert told.returncode == 0, told.stderr
    environment["PASSHAT_CA"] = str(Authority(place.authority.folder / "other").ca)
    assert subprocess.run(command, env=environment, capture_output=True, timeout=60).returncode == 4
    environment["PASSHAT_CA"] = str(place.key)
    assert subprocess.run(command, env=environment, capture_output=True, timeout=60).returncode == 2


@pytest.mark.parametrize("listener", LISTENERS)
def test_a_replaced_certificate_is_shown_without_a_restart(place: Place, listener: str) -> None:
    before = whose(place, listener)
    place.serve_as(f"next for {listener}")
    assert whose(place, listener) == f"next for {listener}" != before


def test_files_that_do_not_fit_leave_the_old_ones_in_force_until_they_do(place: Place) -> None:
    place.serve_as("good")
    assert whose(place, "http") == "good"
    other, other_key = place.authority.issue("half")
    os.replace(shutil.copy(other, place.cert.with_suffix(".new")), place.cert)
    assert {whose(place, listener) for listener in LISTENERS} == {"good"}
    assert [one["stage"] for one in problems(place)] == ["tls"]
    assert "PRIVATE KEY" not in str(problems(place))
    os.replace(shutil.copy(other_key, place.key.with_suffix(".new")), place.key)
    assert {whose(place, listener) for listener in LISTENERS} == {"half"}
    assert problems(place) == []


def problems(place: Place) -> list[dict[str, Any]]:
    with httpx.Client(verify=trusting(place.authority.ca)) as client:
        told: list[dict[str, Any]] = client.get(f"https://{place.serving.web}/api/v1/status").json()["problems"]
    return told


# --- client certificates --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("listener", LISTENERS)
def test_without_a_client_certificate_of_the_right_ca_nobody_gets_in(mutual: Place, listener: str) -> None:
    stranger = Authority(mutual.authority.folder / f"strangers-{listener}").chain("stranger")
    for own in (None, stranger):
        with pytest.raises((ssl.SSLError, ConnectionError)):
            whose(mutual, listener, own)
    assert whose(mutual, listener, mutual.authority.chain(f"client-{listener}"))


def test_a_replaced_client_ca_decides_for_the_next_connection(mutual: Place) -> None:
    old_client = mutual.authority.chain("old-client")
    new = Authority(mutual.authority.folder / "new-clients")
    kept = mutual.client_ca.read_bytes()
    os.replace(shutil.copy(new.ca, mutual.client_ca.with_suffix(".new")), mutual.client_ca)
    try:
        for listener in LISTENERS:
            with pytest.raises((ssl.SSLError, ConnectionError)):
                whose(mutual, listener, old_client)
            assert whose(mutual, listener, new.chain(f"new-client-{listener}"))
    finally:
        mutual.client_ca.write_bytes(kept)


def test_the_api_answers_who_shows_a_certificate(mutual: Place) -> None:
    context = trusting(mutual.authority.ca, mutual.authority.chain("reader"))
    with httpx.Client(verify=context) as client:
        assert client.get(f"https://{mutual.serving.web}/readyz").status_code == 200
        posted = client.post(f"https://{mutual.serving.http}/v1/traces", json={})
    assert posted.status_code == 200


# --- what is refused at start ---------------------------------------------------------------------------------------


def test_files_that_cannot_be_used_are_refused_at_start(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    cert, key = authority.issue("one")
    _, other_key = authority.issue("other")
    locked = tmp_path / "locked.key"
    openssl("ec", "-in", key, "-aes256", "-passout", "pass:x", "-out", locked)
    for config, said in [
        (TlsConfig(cert=tmp_path / "none.pem", key=key), "cannot read"),
        (TlsConfig(cert=cert, key=other_key), "no certificate and its key"),
        (TlsConfig(cert=cert, key=locked), "protected by a password"),
        (TlsConfig(cert=key, key=key), "no certificate and its key"),
        (TlsConfig(cert=cert, key=key, client_ca=key), "no certificate"),
    ]:
        with pytest.raises(UsageError, match=said):
            Certificates(config)
    assert certificates_of(TlsConfig()) is None


def test_half_a_configuration_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "passhat.yaml"
    for text, said in [("{cert: a.pem}", "belong together"), ("{client_ca: a.pem}", "needs `cert` and `key`")]:
        file.write_text(f"listen: {{tls: {text}}}\n")
        with pytest.raises(UsageError, match=said):
            load(file, env={})


def test_one_listener_can_stay_plain(tmp_path: Path) -> None:
    cert, key = Authority(tmp_path).issue("one")
    file = tmp_path / "passhat.yaml"
    listen = "grpc: 127.0.0.1:0, http: 127.0.0.1:0, web: 127.0.0.1:0"
    file.write_text(f"listen: {{{listen}, tls: {{cert: {cert}, key: {key}, listeners: [grpc, http]}}}}\n")
    collector = Collector(load(file, env={}))
    at = collector.start()
    try:
        assert [at.url(name).split(":")[0] for name in LISTENERS] == ["https", "https", "http"]
        assert httpx.get(f"{at.url('web')}/healthz").status_code == 200
    finally:
        collector.stop()
