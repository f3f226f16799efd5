-- Runs that a person closed for good (a published benchmark): what arrives later is kept, their results do not move.
-- One row per (project, run_id), the newest; frozen = 0: judged again from then on.
CREATE TABLE IF NOT EXISTS frozen_runs
(
    project LowCardinality(String),
    run_id String CODEC(ZSTD(1)),
    run_key UInt128 MATERIALIZED reinterpretAsUInt128(sipHash128(project, run_id)),
    frozen Bool,
    set_at DateTime64(9, 'UTC') DEFAULT now64(9)
)
ENGINE = ReplacingMergeTree(set_at)
ORDER BY (project, run_key)
SETTINGS index_granularity = 1024
