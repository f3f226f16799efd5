-- What became of the trials of this range?
-- n counts (pass and fail); errors, unknown, invalid and incomplete are left out of every rate and shown here, because a
-- rate over few of many says little. Many unknown: outcomes are not reported. Many incomplete: exporters are not flushed.
SELECT sum(n) AS n, sum(c) AS passed, sum(errors) AS errors, sum(unknown) AS unknown, sum(invalid) AS invalid, sum(incomplete) AS incomplete
FROM reliability_cells(start = $__fromTime_ms, end = $__toTime_ms) AS cells
WHERE $__conditionalAll(project IN (${project:singlequote}), $project)
    AND $__conditionalAll(task_class IN (${class:singlequote}), $class)
    AND $__conditionalAll(task_id IN (${task:singlequote}), $task)
    AND basis = ${basis:singlequote}
