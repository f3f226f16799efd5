-- Where does an agent repeat itself? The same tool with the same arguments three times or more within one run.
-- Reads after edits are fine; the same failing call again and again is a loop.
SELECT tool, count() AS times, countIf(status = 'error') AS errors, max(time) AS latest, task_id AS task, run_id AS run
FROM tool_calls
WHERE $__timeFilter_ms(tool_calls.time) AND run_ended >= $__fromTime_ms AND input_state IN ('object', 'decoded', 'text')
    AND $__conditionalAll(project IN (${project:singlequote}), $project)
    AND $__conditionalAll(agent IN (${agent:singlequote}), $agent)
    AND $__conditionalAll(tool IN (${tool:singlequote}), $tool)
GROUP BY run, task, tool, cityHash64(input)
HAVING times >= 3
ORDER BY times DESC, latest DESC, run
LIMIT 50
