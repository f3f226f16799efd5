-- Which runs worked in these workspaces at a time that touches [since, until)?
-- One row per run.
SELECT project, workspace_id, run_id, started_ns, ended_ns, units[1] AS unit, has(flags, 'shared_workspace') AS flagged
FROM runs FINAL
WHERE alive AND (project, run_key) IN
(
    SELECT project, run_key
    FROM run_workspaces FINAL
    WHERE alive AND (project, workspace_id) IN {keys:Array(Tuple(String, String))}
        AND ended >= fromUnixTimestamp64Nano({since:Int64})
)
    AND started_ns < {until:Int64} AND workspace_id != ''
