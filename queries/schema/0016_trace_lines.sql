-- Trace lines: what graders read, numbered in run order.
-- One row per (project, run_id, version, n). Current are those whose version is that of the run's row. role is '' where a
-- rewritten revision had more lines before: not a line any more.
-- input and output are JSON text; '' is absent (not captured), '""' an empty answer. run_ended is the run's `ended`.
-- actions: the kinds of action a call was mapped to, on its assistant line.
CREATE TABLE IF NOT EXISTS trace_lines
(
    project LowCardinality(String),
    run_id String CODEC(ZSTD(1)),
    run_key UInt128 MATERIALIZED reinterpretAsUInt128(sipHash128(project, run_id)),
    version UInt64 CODEC(ZSTD(1)),
    n UInt32 CODEC(ZSTD(1)),
    role LowCardinality(String),
    tool LowCardinality(String),
    tool_raw LowCardinality(String),
    server LowCardinality(String),
    actions Array(LowCardinality(String)),
    input String CODEC(ZSTD(1)),
    output String CODEC(ZSTD(1)),
    text String CODEC(ZSTD(1)),
    message_id String CODEC(ZSTD(1)),
    subtype LowCardinality(String),
    cost_usd Nullable(Float64) CODEC(ZSTD(1)),
    num_turns Nullable(Int64) CODEC(ZSTD(1)),
    call_id String CODEC(ZSTD(1)),
    agent LowCardinality(String),
    depth UInt32 CODEC(ZSTD(1)),
    status LowCardinality(String),
    error String CODEC(ZSTD(1)),
    start_ns UInt64 CODEC(Delta, ZSTD(1)),
    end_ns UInt64 CODEC(Delta, ZSTD(1)),
    input_state LowCardinality(String),
    model LowCardinality(String),
    input_tokens Nullable(UInt64) CODEC(ZSTD(1)),
    output_tokens Nullable(UInt64) CODEC(ZSTD(1)),
    dialect LowCardinality(String),
    trace_id String CODEC(ZSTD(1)),
    span_id String CODEC(ZSTD(1)),
    flags Array(LowCardinality(String)),
    attempts UInt32 CODEC(ZSTD(1)),
    task_id LowCardinality(String),
    task_version LowCardinality(String),
    run_ended DateTime64(3, 'UTC') CODEC(ZSTD(1)),
    written_at DateTime64(9, 'UTC') DEFAULT now64(9) CODEC(Delta, ZSTD(1)),
    INDEX by_run run_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(written_at)
PARTITION BY toYYYYMM(run_ended)
ORDER BY (project, run_key, version, n)
SETTINGS index_granularity = 512
