-- How many trials lie behind the curve above? The trials of the trailing window, and how many tasks have k of them.
-- A curve that moves while these fall is a selection of tasks, not a change of the agent.
SELECT time, sum(n) AS trials, countIf(n >= ${k}) AS tasks_used
FROM reliability_over_time(start = $__fromTime_ms, end = $__toTime_ms, step_s = $__interval_s, window_s = ${window}, k = ${k})
WHERE basis = ${basis:singlequote}
    AND $__conditionalAll(project IN (${project:singlequote}), $project)
    AND $__conditionalAll(task_class IN (${class:singlequote}), $class)
    AND $__conditionalAll(task_id IN (${task:singlequote}), $task)
    AND (project, task_id, task_version) IN
        (SELECT project, task_id, argMax(task_version, (first_ended, task_version)) FROM task_versions FINAL GROUP BY project, task_id)
GROUP BY time
ORDER BY time
