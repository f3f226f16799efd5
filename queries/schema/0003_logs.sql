-- Log records as received, beside the canonical facts found on them.
-- One row per (project, unit, time_ns, content): a log record has no id, so equal records of one nanosecond are one.
-- unit: what it is assembled with: its trace id, else its first join key, else '' (kept, part of no run).
-- body and attr_other, resource, scope hold OTLP/JSON. time is clamped like spans.start; time_ns and observed_ns are as sent.
CREATE TABLE IF NOT EXISTS logs
(
    project LowCardinality(String),
    unit String CODEC(ZSTD(1)),
    time_ns UInt64 CODEC(Delta, ZSTD(1)),
    observed_ns UInt64 CODEC(Delta, ZSTD(1)),
    time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    trace_id String CODEC(ZSTD(1)),
    span_id String CODEC(ZSTD(1)),
    trace_flags UInt32 CODEC(ZSTD(1)),
    event_name LowCardinality(String),
    severity_number Int32 CODEC(ZSTD(1)),
    severity_text LowCardinality(String),
    body String CODEC(ZSTD(1)),
    attr_string Map(String, String) CODEC(ZSTD(1)),
    attr_int Map(String, Int64) CODEC(ZSTD(1)),
    attr_double Map(String, Float64) CODEC(ZSTD(1)),
    attr_bool Map(String, Bool) CODEC(ZSTD(1)),
    attr_other Map(String, String) CODEC(ZSTD(1)),
    resource LowCardinality(String),
    scope LowCardinality(String),
    dropped_attributes UInt32 CODEC(ZSTD(1)),
    service LowCardinality(String),
    service_version LowCardinality(String),
    environment LowCardinality(String),
    operation LowCardinality(String),
    dialect LowCardinality(String),
    tool LowCardinality(String),
    model LowCardinality(String),
    agent LowCardinality(String),
    run_id String CODEC(ZSTD(1)),
    task_id String CODEC(ZSTD(1)),
    facts String CODEC(ZSTD(1)),
    flags Array(LowCardinality(String)),
    received_ns UInt64 CODEC(Delta, ZSTD(1)),
    version UInt64 CODEC(Delta, ZSTD(1)),
    stored_at DateTime64(3, 'UTC') DEFAULT now64(3) CODEC(Delta, ZSTD(1)),
    content_hash UInt64 MATERIALIZED cityHash64(
        observed_ns, trace_id, span_id, trace_flags, event_name, severity_number, severity_text, body,
        attr_string, attr_int, attr_double, attr_bool, attr_other, resource, scope, dropped_attributes) CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMM(time)
ORDER BY (project, unit, time_ns, content_hash)
SETTINGS index_granularity = 256, fsync_after_insert = 1, fsync_part_directory = 1
