-- Outcomes: every statement about the end state of a run, by source; which one counts is decided when the run is judged.
-- One row per (project, run_id, source, outcome_id), the newest stored. outcome_id is the sender's idempotency key, else a
-- digest of the content. from_telemetry: read from spans or logs (found again there), else sent over the API (only here).
CREATE TABLE IF NOT EXISTS outcomes
(
    project LowCardinality(String),
    run_id String CODEC(ZSTD(1)),
    run_key UInt128 MATERIALIZED reinterpretAsUInt128(sipHash128(project, run_id)),
    source LowCardinality(String),
    outcome_id String CODEC(ZSTD(1)),
    result LowCardinality(String),
    reason String CODEC(ZSTD(1)),
    score Nullable(Float64) CODEC(ZSTD(1)),
    time_ns UInt64 CODEC(ZSTD(1)),
    from_telemetry Bool,
    stored_at DateTime64(9, 'UTC') DEFAULT now64(9) CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(stored_at)
ORDER BY (project, run_key, source, outcome_id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1
