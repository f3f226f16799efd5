-- Results counted by hour over the whole grain: what every rolling window reads, so its cost does not grow with traffic.
-- One row per (project, hour, cell), newest stamp. Recomputed for the hours a grading touched (queries/counts/hours.sql):
-- live rows plus zeros for cells that vanished, in one statement. stamp = sum of the ranks of all run_hours rows of the
-- hour in the same read: the fuller snapshot wins, and stamp != that sum now means the hour was missed (audit).
-- retry = 1: trials that repeat a failed one, left out unless the policy says `retries: all`.
CREATE TABLE IF NOT EXISTS hour_counts
(
    project LowCardinality(String),
    hour DateTime('UTC') CODEC(Delta, ZSTD(1)),
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
    pass UInt64 CODEC(T64, ZSTD(1)),
    fail UInt64 CODEC(T64, ZSTD(1)),
    error UInt64 CODEC(T64, ZSTD(1)),
    invalid UInt64 CODEC(T64, ZSTD(1)),
    awaiting_outcome UInt64 CODEC(T64, ZSTD(1)),
    nothing_judged UInt64 CODEC(T64, ZSTD(1)),
    evidence UInt64 CODEC(T64, ZSTD(1)),
    incomplete UInt64 CODEC(T64, ZSTD(1)),
    pending UInt64 CODEC(T64, ZSTD(1)),
    stamp UInt256 CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(stamp)
PARTITION BY toYYYYMM(hour)
ORDER BY (project, hour, task_id, task_version, checks_version, basis, task_class, task_source, retry,
          environment, service, service_version, agent, model)
SETTINGS index_granularity = 2048
