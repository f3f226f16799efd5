-- How often does each tool fail? Share of calls with status error, the ten tools with most errors.
-- A tool that fails more since a new version of the agent is called wrongly; one that fails for all is broken.
SELECT $__timeInterval_ms(time) AS time, tool, countIf(status = 'error') / count() AS error_rate
FROM tool_calls
WHERE $__timeFilter_ms(tool_calls.time) AND run_ended >= $__fromTime_ms
    AND tool IN
    (
        SELECT tool FROM tool_calls WHERE $__timeFilter_ms(time) AND run_ended >= $__fromTime_ms AND status = 'error'
        GROUP BY tool ORDER BY count() DESC, tool LIMIT 10
    )
    AND $__conditionalAll(project IN (${project:singlequote}), $project)
    AND $__conditionalAll(agent IN (${agent:singlequote}), $agent)
    AND $__conditionalAll(tool IN (${tool:singlequote}), $tool)
GROUP BY time, tool
ORDER BY time, tool
