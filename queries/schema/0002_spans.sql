-- Spans as received, beside the canonical facts found on them.
-- One row per (project, trace_id, span_id) once merged; before that one per delivery, the newest version counts.
-- Nothing that can change is in the key: a corrected clock must not make a second span.
-- start_ns and end_ns are as sent. start is clamped: absurd times share one month (1970-01), flagged 'absurd_time',
-- so that a repeated delivery meets its twin in one partition.
-- attr_*: attributes by type; attr_other, events, links, resource and scope hold OTLP/JSON (lists, maps, bytes, empty values).
-- version = received µs << 12 | generation of the words that found the facts (normalisers).
-- content_hash tells two versions of one span apart.
-- rootable: can be a run's root (no parent, an agent or workflow, or own passhat identity).
CREATE TABLE IF NOT EXISTS spans
(
    project LowCardinality(String),
    trace_id String CODEC(ZSTD(1)),
    span_id String CODEC(ZSTD(1)),
    parent_span_id String CODEC(ZSTD(1)),
    trace_state String CODEC(ZSTD(1)),
    trace_flags UInt32 CODEC(ZSTD(1)),
    name LowCardinality(String),
    kind Int32 CODEC(ZSTD(1)),
    start_ns UInt64 CODEC(Delta, ZSTD(1)),
    end_ns UInt64 CODEC(Delta, ZSTD(1)),
    start DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    duration_ns UInt64 CODEC(ZSTD(1)),
    status_code Int32 CODEC(ZSTD(1)),
    status_message String CODEC(ZSTD(1)),
    attr_string Map(String, String) CODEC(ZSTD(1)),
    attr_int Map(String, Int64) CODEC(ZSTD(1)),
    attr_double Map(String, Float64) CODEC(ZSTD(1)),
    attr_bool Map(String, Bool) CODEC(ZSTD(1)),
    attr_other Map(String, String) CODEC(ZSTD(1)),
    events String CODEC(ZSTD(1)),
    links String CODEC(ZSTD(1)),
    resource LowCardinality(String),
    scope LowCardinality(String),
    dropped_attributes UInt32 CODEC(ZSTD(1)),
    dropped_events UInt32 CODEC(ZSTD(1)),
    dropped_links UInt32 CODEC(ZSTD(1)),
    service LowCardinality(String),
    service_version LowCardinality(String),
    environment LowCardinality(String),
    operation LowCardinality(String),
    dialect LowCardinality(String),
    tool LowCardinality(String),
    call_id String CODEC(ZSTD(1)),
    model LowCardinality(String),
    agent LowCardinality(String),
    conversation_id String CODEC(ZSTD(1)),
    response_id String CODEC(ZSTD(1)),
    run_id String CODEC(ZSTD(1)),
    task_id String CODEC(ZSTD(1)),
    error_type LowCardinality(String),
    input_tokens UInt64 CODEC(ZSTD(1)),
    output_tokens UInt64 CODEC(ZSTD(1)),
    rootable Bool,
    facts String CODEC(ZSTD(1)),
    flags Array(LowCardinality(String)),
    received_ns UInt64 CODEC(Delta, ZSTD(1)),
    version UInt64 CODEC(Delta, ZSTD(1)),
    stored_at DateTime64(3, 'UTC') DEFAULT now64(3) CODEC(Delta, ZSTD(1)),
    content_hash UInt64 MATERIALIZED cityHash64(
        parent_span_id, trace_state, trace_flags, name, kind, start_ns, end_ns, status_code, status_message,
        attr_string, attr_int, attr_double, attr_bool, attr_other, events, links, resource, scope,
        dropped_attributes, dropped_events, dropped_links) CODEC(ZSTD(1)),
    INDEX by_response response_id TYPE bloom_filter GRANULARITY 4
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMM(start)
ORDER BY (project, trace_id, span_id)
SETTINGS index_granularity = 256, fsync_after_insert = 1, fsync_part_directory = 1
