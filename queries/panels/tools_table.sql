-- What is each tool like? One row per tool, the most called first.
-- runs_share: of the runs of the range, how many used it. Durations in milliseconds, blank where only messages tell of calls.
SELECT
    tool, any(server) AS server, count() AS calls, countIf(status = 'error') AS errors, errors / calls AS error_rate,
    quantile(0.5)(duration_ms) AS p50_ms, quantile(0.95)(duration_ms) AS p95_ms, uniqExact(run_id) AS runs,
    runs / (SELECT uniqExact(run_id) FROM tool_calls WHERE $__timeFilter_ms(time) AND run_ended >= $__fromTime_ms) AS runs_share,
    arrayStringConcat(arraySort(groupUniqArrayArray(actions)), ', ') AS actions
FROM tool_calls
WHERE $__timeFilter_ms(time) AND run_ended >= $__fromTime_ms
    AND $__conditionalAll(project IN (${project:singlequote}), $project)
    AND $__conditionalAll(agent IN (${agent:singlequote}), $agent)
    AND $__conditionalAll(tool IN (${tool:singlequote}), $tool)
GROUP BY tool
ORDER BY calls DESC, tool
LIMIT 200
