-- Results counted by UTC day over the whole grain: hour_counts summed up, so that a month reads thirty rows a cell.
-- One row per (project, day, cell), newest stamp. Recomputed with the hours of the day; stamp = sum of the stamps of all
-- cells of those hours in the same read.
CREATE TABLE IF NOT EXISTS day_counts
(
    project LowCardinality(String),
    day DateTime('UTC') CODEC(Delta, ZSTD(1)),
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
PARTITION BY toYYYYMM(day)
ORDER BY (project, day, task_id, task_version, checks_version, basis, task_class, task_source, retry,
          environment, service, service_version, agent, model)
SETTINGS index_granularity = 2048
