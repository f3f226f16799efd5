-- How did reliability move? At each point the trailing window before it, the mean over tasks with k trials in it.
-- pass_at_k: at least one of k tries passes; pass_hat_k: all of them do. The gap between the two is flakiness.
-- Points lie on whole hours: the hour that runs now is not in yet. A step at an annotation is a change of the agent or of the checks; versions of tasks are never mixed.
SELECT time, avg(pass_hat_k) AS pass_hat_k, avg(pass_at_k) AS pass_at_k
FROM reliability_over_time(start = $__fromTime_ms, end = $__toTime_ms, step_s = $__interval_s, window_s = ${window}, k = ${k})
WHERE basis = ${basis:singlequote}
    AND $__conditionalAll(project IN (${project:singlequote}), $project)
    AND $__conditionalAll(task_class IN (${class:singlequote}), $class)
    AND $__conditionalAll(task_id IN (${task:singlequote}), $task)
    AND (project, task_id, task_version) IN
        (SELECT project, task_id, argMax(task_version, (first_ended, task_version)) FROM task_versions FINAL GROUP BY project, task_id)
GROUP BY time
ORDER BY time
