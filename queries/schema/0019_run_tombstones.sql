-- Runs removed for good: later spans of their traces are refused and counted.
-- One row per (project, run_id). units: the traces (and join keys) that were its.
CREATE TABLE IF NOT EXISTS run_tombstones
(
    project LowCardinality(String),
    run_id String,
    units Array(String),
    reason String,
    deleted_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(deleted_at)
ORDER BY (project, run_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
