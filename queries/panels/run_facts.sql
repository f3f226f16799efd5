-- What was this run? Its task, result, what the result rests on, cost and size. Unknown id: no row.
SELECT
    task_id AS task, task_version AS version, result, reason, outcome, trajectory, basis, duration_s, tool_calls, turns,
    input_tokens, output_tokens, cost_usd, agent, model, ended, project
FROM trials
WHERE run_id = ${run:singlequote}
LIMIT 1
