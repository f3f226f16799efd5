-- When did each task pass, flake, fail? The trailing day at each point: 2 all passed, 1 some failed, 0 all failed; blank: no
-- trial. The thirty tasks with most trials. Many tasks that turn red together point at the agent or the environment, one
-- alone at the task.
SELECT time, task_id AS task, multiIf(n = 0, NULL, c = n, 2, c = 0, 0, 1) AS state
FROM reliability_over_time(start = $__fromTime_ms, end = $__toTime_ms, step_s = $__interval_s, window_s = 86400, k = 1)
WHERE basis = ${basis:singlequote}
    AND $__conditionalAll(project IN (${project:singlequote}), $project)
    AND $__conditionalAll(task_class IN (${class:singlequote}), $class)
    AND $__conditionalAll(task_id IN (${task:singlequote}), $task)
    AND (project, task_id, task_version) IN
        (SELECT project, task_id, argMax(task_version, (first_ended, task_version)) FROM task_versions FINAL GROUP BY project, task_id)
    AND task_id IN
    (
        SELECT task_id FROM reliability_cells(start = $__fromTime_ms, end = $__toTime_ms) AS busiest
        WHERE $__conditionalAll(project IN (${project:singlequote}), $project)
        GROUP BY task_id ORDER BY sum(n) DESC, task_id LIMIT 30
    )
ORDER BY time, task
