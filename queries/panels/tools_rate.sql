-- How often is each tool called? Calls a minute, the ten most called tools.
SELECT $__timeInterval_ms(time) AS time, tool, count() * 60000 / $__interval_ms AS calls_per_minute
FROM tool_calls
WHERE $__timeFilter_ms(tool_calls.time) AND run_ended >= $__fromTime_ms
    AND tool IN (SELECT tool FROM tool_calls WHERE $__timeFilter_ms(time) AND run_ended >= $__fromTime_ms GROUP BY tool ORDER BY count() DESC, tool LIMIT 10)
    AND $__conditionalAll(project IN (${project:singlequote}), $project)
    AND $__conditionalAll(agent IN (${agent:singlequote}), $agent)
    AND $__conditionalAll(tool IN (${tool:singlequote}), $tool)
GROUP BY time, tool
ORDER BY time, tool
