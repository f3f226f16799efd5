"""What passhat counts of itself, in one place: Prometheus names, label by label.

Nothing is dropped without a counter that says why. A registry is passed in, never global.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

LATENCY_BUCKETS_S = (0.002, 0.005, 0.01, 0.02, 0.04, 0.06, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """The counters, gauges and histograms of one collector."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()
        r = self.registry
        self.requests = Counter(
            "passhat_requests", "Export requests answered", ["signal", "transport", "code"], registry=r
        )
        self.accepted = Counter("passhat_accepted", "Spans or log records acknowledged", ["signal"], registry=r)
        self.refused = Counter(
            "passhat_refused",
            "Spans or log records refused, or requests when undecodable",
            ["signal", "reason"],
            registry=r,
        )
        self.repaired = Counter("passhat_repaired", "Values repaired and marked", ["reason"], registry=r)
        self.redacted = Counter("passhat_redacted", "Secrets replaced before the spool", ["kind"], registry=r)
        self.received_bytes = Counter(
            "passhat_received_bytes", "Bytes of export requests, inflated", ["signal"], registry=r
        )
        self.ack_seconds = Histogram(
            "passhat_ack_seconds",
            "From request read to acknowledgement",
            ["transport"],
            buckets=LATENCY_BUCKETS_S,
            registry=r,
        )
        self.spool_bytes = Gauge("passhat_spool_bytes", "Bytes waiting in the spool", registry=r)
        self.spool_entries = Gauge("passhat_spool_entries", "Export requests waiting in the spool", registry=r)
        self.set_aside = Gauge("passhat_set_aside", "Files in the spool's quarantine", registry=r)
        self.spool_seconds_left = Gauge(
            "passhat_spool_seconds_left", "Until the spool is full, as it grew in the last minute", registry=r
        )
        self.stored = Counter("passhat_stored", "Spans or log records written to the store", ["signal"], registry=r)
        self.store_errors = Counter(
            "passhat_store_errors", "Failed writes to the store, retried", ["reason"], registry=r
        )
        self.repeated_keys = Counter(
            "passhat_repeated_keys", "Attributes whose key came again in one element", ["signal"], registry=r
        )
        self.unmapped = Counter("passhat_unmapped_spans", "Spans no dialect understood (kept)", [], registry=r)
        self.dialects = Counter(
            "passhat_dialect_spans", "Spans by the dialect that understood them", ["dialect"], registry=r
        )
        self.graded = Counter("passhat_graded_runs", "Gradings written", ["result"], registry=r)
        self.frozen = Counter("passhat_late_after_freeze", "Gradings not written: the run is frozen", [], registry=r)
        self.not_a_run = Counter("passhat_not_a_run", "Units without agent, model or tool call", [], registry=r)
        self.grade_errors = Counter(
            "passhat_grade_errors", "Runs whose grading failed, retried", ["reason"], registry=r
        )
        self.verdict_seconds = Histogram(
            "passhat_verdict_seconds", "From due to verdict written", buckets=LATENCY_BUCKETS_S, registry=r
        )
        self.problems = Gauge("passhat_problems", "1 while a stage is not well", ["stage"], registry=r)
        self.open_units = Gauge("passhat_open_units", "Traces (or joined traces) waiting to be due", registry=r)
        self.exported = Counter("passhat_exported_events", "Verdicts told as OTLP events", ["result"], registry=r)
        self.webhooks = Counter("passhat_webhook_posts", "Posts to webhooks", ["event", "result"], registry=r)
        self.judge = Counter("passhat_judge_questions", "Questions to the model that judges", ["result"], registry=r)
        self.judge_tokens = Counter("passhat_judge_tokens", "Tokens of the model that judges", ["kind"], registry=r)
        self.sql = Counter("passhat_sql_statements", "Statements over /clickhouse", ["result"], registry=r)
