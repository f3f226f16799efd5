-- Which workspaces did more than one trial that ended in [start, end) work in?
-- One row per project and workspace; tasks: (task_id, task_version) of its trials.
CREATE OR REPLACE VIEW shared_workspaces AS
SELECT project, workspace_id, count() AS trials, groupUniqArray((task_id, task_version)) AS tasks
FROM run_workspaces FINAL
WHERE alive AND ended >= {start:DateTime64(3, 'UTC')} AND ended < {end:DateTime64(3, 'UTC')}
GROUP BY project, workspace_id
HAVING trials > 1
