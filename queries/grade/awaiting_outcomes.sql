-- Which closed runs await an outcome though none of their task is reported, and when did they end?
-- One row per run.
SELECT project, units[1] AS unit, ended_ns
FROM runs FINAL
WHERE alive AND NOT open AND basis = 'trajectory' AND result = 'unknown' AND reason = 'awaiting_outcome'
ORDER BY ALL
