"""The trace the doctor sends: one small run, by the stock OTLP exporter."""

from __future__ import annotations

import os
import secrets
import time
from typing import TYPE_CHECKING

import opentelemetry.exporter.otlp.proto.http.trace_exporter as http_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_ON

from collector.cli.arrivals import OWN_SERVICE
from collector.cli.ingest import token
from collector.cli.out import cell
from collector.demo.channels import CountedSpans, Sent, plain_environment
from collector.demo.data import Call, Trial, Turn
from collector.demo.spans import STEP_NS, Recorder
from collector.errors import StoreError, UsageError

if TYPE_CHECKING:
    import httpx

TASK = "passhat doctor"


def may_send(endpoint: str) -> None:
    """Raises UsageError in the receiver's own words when it refuses us: the exporter tells only that it failed."""
    import httpx

    headers = {"Content-Type": "application/json", **token()}
    trusted = os.environ.get("PASSHAT_CA") or True
    try:
        reply = httpx.post(f"{endpoint}/v1/traces", content=b"{}", headers=headers, trust_env=False, verify=trusted)
    except httpx.HTTPError as error:
        raise StoreError(f"{endpoint}: {type(error).__name__}: {error}") from None
    if reply.status_code in (401, 403):
        raise UsageError(
            f"{endpoint} refused us ({reply.status_code}): {said_by(reply)}",
            hint="the doctor needs a token with the scopes ingest and read, in PASSHAT_TOKEN",
        )


def said_by(reply: httpx.Response) -> str:
    """The message of an OTLP refusal."""
    try:
        return cell(reply.json().get("message", ""))
    except (ValueError, AttributeError):
        return "not as passhat does"


def send_trace(endpoint: str, project: str) -> str:
    """Send it and return its run id. Raises StoreError when it was not acknowledged."""
    run_id = f"doctor-{secrets.token_hex(8)}"
    call = Call("echo", {"text": "hello"}, "hello")
    turns = (Turn((call,)), Turn(text="hello"))
    trial = Trial("doctor", TASK, "", "Say hello.", turns, run_id=run_id, trial_id=run_id, run_end=True)
    with plain_environment():
        stock: SpanExporter = http_spans.OTLPSpanExporter(
            endpoint=f"{endpoint}/v1/traces",
            headers=token(),
            timeout=10,
            certificate_file=os.environ.get("PASSHAT_CA"),
        )
        sent = Sent()
        resource = Resource({"service.name": OWN_SERVICE, "passhat.project": project})
        provider = TracerProvider(ALWAYS_ON, resource, shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(CountedSpans(stock, sent)))
        Recorder(provider.get_tracer("passhat.doctor"), trial, time.time_ns() - 20 * STEP_NS).record()
        provider.shutdown()
    if sent.failed:
        raise StoreError(f"{sent.failed} of its spans were not acknowledged by {endpoint}")
    return run_id
