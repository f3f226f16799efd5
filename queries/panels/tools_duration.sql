-- How long do calls take? Median and 95th percentile of calls that were timed, in milliseconds.
SELECT $__timeInterval_ms(time) AS time, quantile(0.5)(duration_ms) AS p50_ms, quantile(0.95)(duration_ms) AS p95_ms
FROM tool_calls
WHERE $__timeFilter_ms(tool_calls.time) AND run_ended >= $__fromTime_ms AND duration_ms IS NOT NULL
    AND $__conditionalAll(project IN (${project:singlequote}), $project)
    AND $__conditionalAll(agent IN (${agent:singlequote}), $agent)
    AND $__conditionalAll(tool IN (${tool:singlequote}), $tool)
GROUP BY time
ORDER BY time
