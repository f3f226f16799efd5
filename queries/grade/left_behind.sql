-- Which runs are judged by trajectory though outcomes of their task are reported? Frozen ones may stay so.
-- One row per unit.
SELECT DISTINCT project, units[1] AS unit
FROM runs FINAL
WHERE alive AND NOT open AND basis = 'trajectory' AND (project, task_id, task_version) IN
(
    SELECT project, task_id, task_version
    FROM task_versions
    GROUP BY project, task_id, task_version
    HAVING max(has_outcome) = 1
)
    AND (project, run_key) NOT IN (SELECT project, run_key FROM frozen_runs FINAL WHERE frozen)
ORDER BY ALL
