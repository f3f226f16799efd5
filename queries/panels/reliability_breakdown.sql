-- Who is reliable? Trials of the range by service, version, agent and model; rates are over single trials of one basis.
-- stream_pass_hat_k: k different requests in a row, with its 95 % interval. Compare only rows that did the same tasks.
SELECT
    service, version, agent, model, tasks, n, passed, passHatK(n, passed, 1) AS pass_1,
    passHatK(n, passed, ${k}) AS stream_pass_hat_k, lookLow(n, passed, ${k}, 1.) AS low, lookHigh(n, passed, ${k}, 1.) AS high,
    errors, unknown
FROM
(
    SELECT
        service, service_version AS version, agent, model, uniqExact(task_id) AS tasks, sum(cells.n) AS n, sum(cells.c) AS passed,
        sum(cells.errors) AS errors, sum(cells.unknown) AS unknown
    FROM reliability_cells(start = $__fromTime_ms, end = $__toTime_ms) AS cells
    WHERE basis = ${basis:singlequote}
        AND $__conditionalAll(project IN (${project:singlequote}), $project)
        AND $__conditionalAll(task_class IN (${class:singlequote}), $class)
        AND $__conditionalAll(task_id IN (${task:singlequote}), $task)
    GROUP BY service, service_version, agent, model
)
ORDER BY n DESC, service, version, agent, model
LIMIT 200
