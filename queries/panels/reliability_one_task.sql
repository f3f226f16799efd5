-- How did one task move? pass^k of the trailing window with the interval that holds per look (95 %), one line per version.
-- A change inside the band is noise. Blank where the window holds fewer than k trials.
SELECT time, pass_hat_k, low, high
FROM reliability_over_time(start = $__fromTime_ms, end = $__toTime_ms, step_s = $__interval_s, window_s = ${window}, k = ${k})
WHERE task_id = ${one:singlequote} AND basis = ${basis:singlequote}
    AND $__conditionalAll(project IN (${project:singlequote}), $project)
    AND (project, task_id, task_version) IN
        (SELECT project, task_id, argMax(task_version, (first_ended, task_version)) FROM task_versions FINAL GROUP BY project, task_id)
ORDER BY time, n DESC
LIMIT 1 BY time
