-- Which runs were ever written for a unit, so that those which are gone are withdrawn.
-- One row per (project, unit, run_id).
CREATE TABLE IF NOT EXISTS runs_by_unit
(
    project LowCardinality(String),
    unit String CODEC(ZSTD(1)),
    run_id String CODEC(ZSTD(1)),
    stored_at DateTime64(3, 'UTC') DEFAULT now64(3) CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree
ORDER BY (project, unit, run_id)
SETTINGS index_granularity = 512
