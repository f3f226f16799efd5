-- What do calls do? Calls of the range by kind of action; one call may be several.
SELECT $__timeInterval_ms(time) AS time, arrayJoin(actions) AS action, count() * 60000 / $__interval_ms AS calls_per_minute
FROM tool_calls
WHERE $__timeFilter_ms(tool_calls.time) AND run_ended >= $__fromTime_ms
    AND $__conditionalAll(project IN (${project:singlequote}), $project)
    AND $__conditionalAll(agent IN (${agent:singlequote}), $agent)
    AND $__conditionalAll(tool IN (${tool:singlequote}), $tool)
GROUP BY time, action
ORDER BY time, action
