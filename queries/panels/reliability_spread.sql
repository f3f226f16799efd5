-- How many tasks pass how often? Tasks with k trials, by their pass rate in steps of a tenth.
-- Two humps, at 0 and 100 %, are tasks that the agent can or cannot do; a hump between them is flakiness.
SELECT concat(toString(toUInt8(10 * step)), ' %') AS rate, countIf(n > 0) AS tasks
FROM
(
    SELECT arrayJoin(range(11)) AS step, 0 AS n
    UNION ALL
    SELECT toUInt8(floor(10 * c / n)), n
    FROM task_reliability(start = $__fromTime_ms, end = $__toTime_ms, k = ${k}) AS t
    WHERE n >= ${k} AND basis = ${basis:singlequote}
        AND $__conditionalAll(project IN (${project:singlequote}), $project)
        AND $__conditionalAll(task_class IN (${class:singlequote}), $class)
        AND $__conditionalAll(task_id IN (${task:singlequote}), $task)
)
GROUP BY step
ORDER BY step
