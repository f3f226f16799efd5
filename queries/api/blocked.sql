-- Question: which runs of the last seven days count nowhere, and why?
-- Grain: one row per reason.
SELECT
    if(result = 'unknown', reason, result) AS reason,
    count() AS runs
FROM trials
WHERE ended >= now() - INTERVAL 7 DAY
  AND result IN ('unknown', 'incomplete', 'pending')
  AND (empty({project:Array(String)}) OR project IN {project:Array(String)})
GROUP BY 1
ORDER BY runs DESC, reason
