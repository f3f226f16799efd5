-- Question: how reliable were the most tried tasks in [start, end), for Prometheus?
-- Grain: one row per row of task_reliability, the most trials first, at most {limit}; of is how many rows there are in all.
SELECT
    project, task_id, task_version, checks_version, basis, n, c, pass_hat_k, pass_at_k, low, high, count() OVER () AS of
FROM task_reliability(start={start:DateTime64(3, 'UTC')}, end={end:DateTime64(3, 'UTC')}, k={k:UInt32})
WHERE empty({project:Array(String)}) OR project IN {project:Array(String)}
ORDER BY n DESC, project, task_id, task_version, checks_version, basis
LIMIT {limit:UInt32}
