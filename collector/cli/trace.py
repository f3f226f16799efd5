"""The trace the doctor sends: one small run, by the stock OTLP exporter."""

from __future__ import annotations

import secrets
import time

import opentelemetry.exporter.otlp.proto.http.trace_exporter as http_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_ON

from collector.cli.ingest import token
from collector.demo.channels import CountedSpans, Sent, plain_environment
from collector.demo.data import Call, Trial, Turn
from collector.demo.spans import STEP_NS, Recorder
from collector.errors import StoreError

TASK = "passhat doctor"


def send_trace(endpoint: str, project: str) -> str:
    """Send it and return its run id. Raises StoreError when it was not acknowledged."""
    run_id = f"doctor-{secrets.token_hex(8)}"
    call = Call("echo", {"text": "hello"}, "hello")
    turns = (Turn((call,)), Turn(text="hello"))
    trial = Trial("doctor", TASK, "", "Say hello.", turns, run_id=run_id, trial_id=run_id, run_end=True)
    with plain_environment():
        stock: SpanExporter = http_spans.OTLPSpanExporter(endpoint=f"{endpoint}/v1/traces", headers=token(), timeout=10)
        sent = Sent()
        resource = Resource({"service.name": "passhat-doctor", "passhat.project": project})
        provider = TracerProvider(ALWAYS_ON, resource, shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(CountedSpans(stock, sent)))
        Recorder(provider.get_tracer("passhat.doctor"), trial, time.time_ns() - 20 * STEP_NS).record()
        provider.shutdown()
    if sent.failed:
        raise StoreError(f"{sent.failed} of its spans were not acknowledged by {endpoint}")
    return run_id
