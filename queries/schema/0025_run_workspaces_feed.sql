-- Copies each written run that named its workspace; keyed, so repeated writes change nothing.
CREATE MATERIALIZED VIEW IF NOT EXISTS run_workspaces_feed TO run_workspaces AS
SELECT project, workspace_id, run_key, rank, alive, ended, task_id, task_version
FROM runs
WHERE workspace_id != ''
