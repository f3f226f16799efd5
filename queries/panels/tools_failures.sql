-- What do tools fail with? The most frequent errors, by tool and the beginning of the message.
SELECT tool, substring(error, 1, 120) AS error_text, count() AS calls, uniqExact(run_id) AS runs, max(time) AS latest, argMax(run_id, time) AS run
FROM tool_calls
WHERE $__timeFilter_ms(tool_calls.time) AND run_ended >= $__fromTime_ms AND status = 'error'
    AND $__conditionalAll(project IN (${project:singlequote}), $project)
    AND $__conditionalAll(agent IN (${agent:singlequote}), $agent)
    AND $__conditionalAll(tool IN (${tool:singlequote}), $tool)
GROUP BY tool, error_text
ORDER BY calls DESC, tool, error_text
LIMIT 50
