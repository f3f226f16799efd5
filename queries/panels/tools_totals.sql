-- How many tools were called, and how did it go? Logical calls of the range: one call, whatever spans tell of it.
-- error_rate is over all calls; blank without any.
SELECT count() AS calls, countIf(status = 'error') AS errors, if(calls = 0, NULL, errors / calls) AS error_rate, uniqExact(run_id) AS runs,
    if(runs = 0, NULL, calls / runs) AS calls_per_run
FROM tool_calls
WHERE $__timeFilter_ms(time) AND run_ended >= $__fromTime_ms
    AND $__conditionalAll(project IN (${project:singlequote}), $project)
    AND $__conditionalAll(agent IN (${agent:singlequote}), $agent)
    AND $__conditionalAll(tool IN (${tool:singlequote}), $tool)
