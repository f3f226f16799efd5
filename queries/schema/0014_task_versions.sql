-- Versions of tasks: which is the newest, and which ever received an outcome.
-- One row per (project, task_id, task_version) once merged. first_ended: the end of its first trial;
-- has_outcome: some run of it was ever judged with an outcome pass or fail (basis `outcome` from then on).
CREATE TABLE IF NOT EXISTS task_versions
(
    project LowCardinality(String),
    task_id String CODEC(ZSTD(1)),
    task_version String CODEC(ZSTD(1)),
    first_ended SimpleAggregateFunction(min, DateTime64(3, 'UTC')),
    has_outcome SimpleAggregateFunction(max, UInt8)
)
ENGINE = AggregatingMergeTree
ORDER BY (project, task_id, task_version)
