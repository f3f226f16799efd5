-- How did the newest trial of each task end that counts?
-- One row per project, task and version. Newest by end; `hour` bounds what is read: the newest ended no earlier.
SELECT
    project, task_id, task_version,
    argMax(result, (ended, run_key)) AS newest,
    argMax(reason, (ended, run_key)) AS why,
    toUnixTimestamp64Milli(max(ended)) AS ended_ms
FROM run_hours FINAL
WHERE alive AND result IN ('pass', 'fail') AND hour >= toDateTime({hour:UInt32}, 'UTC')
    AND (project, task_id, task_version) IN {tasks:Array(Tuple(String, String, String))}
GROUP BY project, task_id, task_version
