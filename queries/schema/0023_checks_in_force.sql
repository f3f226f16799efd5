-- The checks version each task is judged by now: gates, suites and SLOs read only trials of that version.
-- One row per (project, task_id, task_class), the greatest epoch. Fed from runs, and at start by the collector for known tasks.
CREATE TABLE IF NOT EXISTS checks_in_force
(
    project LowCardinality(String),
    task_id String,
    task_class String,
    checks_version String,
    epoch UInt32
)
ENGINE = ReplacingMergeTree(epoch)
ORDER BY (project, task_id, task_class)
