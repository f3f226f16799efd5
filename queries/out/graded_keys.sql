-- Which runs were graded in a stretch of time? The oldest first; runs graded at the same moment come together.
-- One row per run and grading that is still stored: only the newest is sent.
SELECT project, run_id, toUnixTimestamp64Nano(graded_at) AS at
FROM runs
WHERE graded_at > fromUnixTimestamp64Nano({since:Int64}) AND graded_at <= fromUnixTimestamp64Nano({until:Int64})
ORDER BY graded_at
LIMIT {limit:UInt64} WITH TIES
