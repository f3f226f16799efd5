-- What was this run? Its task, result, and what the result rests on. Unknown id: no row.
SELECT
    task_id AS task, task_version AS version, result, reason, outcome, trajectory, basis, agent, model, ended, project
FROM trials
WHERE run_id = ${run:singlequote}
LIMIT 1
