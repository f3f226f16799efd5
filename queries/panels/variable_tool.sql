-- Which tools were called in runs of the last 30 days? One value per row, the most used first.
SELECT tool FROM tool_calls
WHERE run_ended >= now() - INTERVAL 30 DAY AND $__conditionalAll(project IN (${project:singlequote}), $project)
GROUP BY tool
ORDER BY count() DESC, tool
LIMIT 500
