-- Verdicts: the history of all revisions. The current ones are in the view current_verdicts.
-- One row per (project, run_id, check_id, check_version, input_digest).
CREATE TABLE IF NOT EXISTS verdicts
(
    project LowCardinality(String),
    run_id String CODEC(ZSTD(1)),
    run_key UInt128 MATERIALIZED reinterpretAsUInt128(sipHash128(project, run_id)),
    check_id LowCardinality(String),
    check_version LowCardinality(String),
    input_digest String CODEC(ZSTD(1)),
    kind LowCardinality(String),
    axis LowCardinality(String),
    gate Bool,
    severity LowCardinality(String),
    on_fail LowCardinality(String),
    status LowCardinality(String),
    reason String CODEC(ZSTD(1)),
    fix LowCardinality(String),
    lines Array(UInt32) CODEC(ZSTD(1)),
    version UInt64 CODEC(ZSTD(1)),
    revision UInt32 CODEC(ZSTD(1)),
    graded_at DateTime64(9, 'UTC') DEFAULT now64(9) CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(graded_at)
ORDER BY (project, run_key, check_id, check_version, input_digest)
SETTINGS index_granularity = 1024
