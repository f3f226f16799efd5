-- Where do outcome and trajectory differ? A right answer by a bad path, or a good path to a wrong answer; newest first.
-- Read these runs first: either a check is wrong or the agent was lucky.
SELECT ended AS time, task_id AS task, meaning, outcome, trajectory, run_id AS run
FROM disagreements(start = $__fromTime_ms, end = $__toTime_ms)
WHERE $__conditionalAll(project IN (${project:singlequote}), $project)
    AND $__conditionalAll(task_class IN (${class:singlequote}), $class)
    AND $__conditionalAll(task_id IN (${task:singlequote}), $task)
ORDER BY time DESC, run
LIMIT 100
