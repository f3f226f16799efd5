-- Question: which projects have trials in [start, end)?
-- Grain: one row per project, at most a hundred: more than one means that a gate must be told which.
SELECT DISTINCT project
FROM counts_between(start={start:DateTime64(3, 'UTC')}, end={end:DateTime64(3, 'UTC')}) AS counts
ORDER BY project
LIMIT 100
