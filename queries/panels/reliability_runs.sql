-- Which runs were they? The newest runs of the range; the run leads to its lines.
SELECT ended AS time, task_id AS task, result, reason, outcome, trajectory, tool_calls, duration_s, cost_usd, agent, model, run_id AS run
FROM trials
WHERE $__timeFilter_ms(ended)
    AND $__conditionalAll(project IN (${project:singlequote}), $project)
    AND $__conditionalAll(task_class IN (${class:singlequote}), $class)
    AND $__conditionalAll(task_id IN (${task:singlequote}), $task)
ORDER BY time DESC, run
LIMIT 200
