-- Where trials worked: two trials of one workspace may have seen each other's state (flag shared_workspace).
-- One row per run that named its workspace. Fed from runs by run_workspaces_feed.
CREATE TABLE IF NOT EXISTS run_workspaces
(
    project LowCardinality(String),
    workspace_id String,
    run_key UInt128,
    rank UInt128,
    alive Bool,
    ended DateTime64(3, 'UTC'),
    task_id String,
    task_version String
)
ENGINE = ReplacingMergeTree(rank)
ORDER BY (project, workspace_id, run_key)
