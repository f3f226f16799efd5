-- Runs by hour: what hour counts are recomputed from, and the ragged ends of windows.
-- One row per (project, hour, run) it is or ever was in; alive = 1 only in its current hour.
-- Fed from runs by run_hours_feed; keyed, so repeated writes change nothing.
CREATE TABLE IF NOT EXISTS run_hours
(
    project LowCardinality(String),
    hour DateTime('UTC') CODEC(ZSTD(1)),
    run_key UInt128,
    rank UInt128 CODEC(ZSTD(1)),
    alive Bool,
    ended DateTime64(3, 'UTC') CODEC(ZSTD(1)),
    task_id LowCardinality(String),
    task_version LowCardinality(String),
    checks_version LowCardinality(String),
    basis LowCardinality(String),
    task_class LowCardinality(String),
    task_source LowCardinality(String),
    retry Bool,
    environment LowCardinality(String),
    service LowCardinality(String),
    service_version LowCardinality(String),
    agent LowCardinality(String),
    model LowCardinality(String),
    result LowCardinality(String),
    reason LowCardinality(String)
)
ENGINE = ReplacingMergeTree(rank)
PARTITION BY toYYYYMM(hour)
ORDER BY (project, hour, run_key)
SETTINGS index_granularity = 1024
