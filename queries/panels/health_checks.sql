-- Which checks break? Verdicts with status error or unknown, by check and reason; a broken check fails nobody and judges
-- nobody.
SELECT check_id AS check, status, substring(reason, 1, 160) AS why, count() AS runs, max(ended) AS latest, argMax(run_id, ended) AS run
FROM current_verdicts
WHERE $__timeFilter_ms(ended) AND status IN ('error', 'unknown')
GROUP BY check, status, why
ORDER BY status, runs DESC, check, why
LIMIT 50
