-- How reliable are the tasks together, over the time range of the dashboard?
-- The mean over tasks with at least k trials, each at its newest version and judged by the checks in force. Tasks are
-- tries of the same work; k different requests of live traffic are the stream panel.
-- Blank when no task has k trials. Look at tasks_used before believing it: below 0.8 of the tasks it is a selection.
SELECT pass_hat_k, pass_at_k, low, high, tasks_used, tasks, n
FROM suite_reliability(start = $__fromTime_ms, end = $__toTime_ms, k = ${k})
WHERE whole AND basis = ${basis:singlequote} AND $__conditionalAll(project IN (${project:singlequote}), $project)
ORDER BY n DESC
LIMIT 1
