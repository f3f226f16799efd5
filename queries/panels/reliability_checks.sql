-- Which checks fail? Verdicts of the range by check; fail_rate is over pass and fail.
-- error: the check itself is broken. unknown: evidence is missing.
SELECT
    check_id AS check, if(gate, 'gate', 'advice') AS counts_as, countIf(status = 'pass') AS passed, countIf(status = 'fail') AS failed,
    if(passed + failed = 0, NULL, failed / (passed + failed)) AS fail_rate,
    countIf(status = 'unknown') AS unknown, countIf(status = 'error') AS errors, countIf(status = 'not_applicable') AS not_applicable
FROM current_verdicts
WHERE $__timeFilter_ms(ended)
    AND $__conditionalAll(project IN (${project:singlequote}), $project)
    AND $__conditionalAll(task_class IN (${class:singlequote}), $class)
    AND $__conditionalAll(task_id IN (${task:singlequote}), $task)
GROUP BY check, counts_as
ORDER BY failed DESC, check
