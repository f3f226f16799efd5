"""What passhat says of itself over OTLP: its counters as metrics, its batches as traces. Off without an endpoint.

Never into itself: a collector refuses its own address, and every passhat leaves out what names itself `passhat`
(resource) and `passhat.…` (scope), so a way back through a load balancer ends there too. Never in the way: threads of
the SDK send, from bounded queues, and an error is a line in the log.
"""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit

from collector.config.keys import TelemetryConfig
from collector.config.units import split_address
from collector.errors import UsageError
from collector.metrics import Metrics

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics.export import MetricExporter
    from opentelemetry.sdk.trace.export import SpanExporter

log = logging.getLogger("passhat.telemetry")

SERVICE = "passhat"
SCOPE = "passhat.pipeline"
SEND_S = 5.0
STOP_S = 2.0

Trace: TypeAlias = Callable[..., AbstractContextManager[None]]


def untraced(name: str, **attributes: int | str) -> AbstractContextManager[None]:
    """No telemetry is switched on."""
    return nullcontext()


class Telemetry:
    """The SDK's providers over one collector's metrics. Raises UsageError when the endpoint is the collector itself."""

    def __init__(self, config: TelemetryConfig, metrics: Metrics, own: Iterable[str], version: str) -> None:
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        assert config.endpoint is not None
        refuse_own(config.endpoint, own)
        spans, numbers = exporters(config, config.endpoint)
        # Nothing of OTEL_RESOURCE_ATTRIBUTES: another service name would not be left out by a passhat that receives it.
        resource = Resource(
            {"service.name": SERVICE, "service.version": version, "service.instance.id": socket.gethostname()}
        )
        reader = PeriodicExportingMetricReader(numbers, export_interval_millis=config.interval_s * 1000)
        self._meters = MeterProvider([reader], resource, shutdown_on_exit=False)
        self._tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._tracers.add_span_processor(
            BatchSpanProcessor(spans, schedule_delay_millis=min(config.interval_s, SEND_S) * 1000)
        )
        self._tracer = self._tracers.get_tracer(SCOPE)
        self._observe(metrics)

    @contextmanager
    def trace(self, name: str, **attributes: int | str) -> Iterator[None]:
        """One batch of a stage as a span; an error passes through and marks it."""
        with self._tracer.start_as_current_span(name, attributes=attributes, record_exception=False) as span:
            try:
                yield
            except Exception as error:
                span.set_attribute("error.type", type(error).__name__)
                raise

    def stop(self) -> None:
        """Send what is waiting, as far as two seconds allow: nothing depends on it."""
        last = [
            threading.Thread(target=provider.shutdown, daemon=True, name="passhat-telemetry")
            for provider in (self._tracers, self._meters)
        ]
        for thread in last:
            thread.start()
        for thread in last:
            thread.join(STOP_S)

    def _observe(self, metrics: Metrics) -> None:
        """Each counter and gauge as an instrument of its name, and how often and how long of each histogram."""
        meter = self._meters.get_meter(SCOPE)
        makers = {"counter": meter.create_observable_counter, "gauge": meter.create_observable_gauge}
        for family in metrics.registry.collect():
            if family.type == "histogram":
                for end in ("_count", "_sum"):
                    makers["counter"](family.name + end, [_observer(metrics, family.name, end)])
            else:
                end = "_total" if family.type == "counter" else ""
                makers[family.type](
                    family.name, [_observer(metrics, family.name, end)], description=family.documentation
                )


def _observer(metrics: Metrics, name: str, end: str) -> Callable[[Any], Iterable[Any]]:
    from opentelemetry.metrics import Observation

    def observe(_: Any) -> Iterable[Any]:
        for family in metrics.registry.collect():
            if family.name == name:
                samples = (one for one in family.samples if one.name == name + end)
                yield from (Observation(one.value, one.labels) for one in samples)

    return observe


def exporters(config: TelemetryConfig, endpoint: str) -> tuple[SpanExporter, MetricExporter]:
    """The stock OTLP exporters to this server."""
    if config.protocol == "grpc":
        from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter as GrpcMetrics
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcSpans

        headers = {name.lower(): value for name, value in config.headers.items()}
        return (
            GrpcSpans(endpoint=endpoint, headers=headers, timeout=SEND_S),
            GrpcMetrics(endpoint=endpoint, headers=headers, timeout=SEND_S),
        )
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter as HttpMetrics
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpSpans

    base = endpoint.rstrip("/")
    return (
        HttpSpans(endpoint=f"{base}/v1/traces", headers=config.headers, timeout=SEND_S),
        HttpMetrics(endpoint=f"{base}/v1/metrics", headers=config.headers, timeout=SEND_S),
    )


def refuse_own(endpoint: str, own: Iterable[str]) -> None:
    """Raise UsageError when the endpoint is one of the collector's own addresses."""
    parts = urlsplit(endpoint)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    at = _addresses(parts.hostname or "", port)
    for address in own:
        host, own_port = split_address(address)
        if port == own_port and any(_reaches(one, host) for one in at):
            raise UsageError(
                f"telemetry.endpoint {endpoint}: this is the collector itself",
                hint="name another collector: passhat does not grade its own telemetry",
            )


def _addresses(host: str, port: int) -> set[str]:
    try:
        return {str(found[4][0]) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)}
    except OSError:  # not resolvable now: it cannot be this machine's own
        return set()


def _reaches(address: str, own: str) -> bool:
    """Whether something sent to this address arrives at a listener on `own`."""
    if own in ("127.0.0.1", "localhost", "::1"):
        return ip_address(address).is_loopback
    return address == own if own not in ("0.0.0.0", "::") else _is_of_this_machine(address)


def _is_of_this_machine(address: str) -> bool:
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            sock.bind((address, 0))
        except OSError:
            return False
        return True
