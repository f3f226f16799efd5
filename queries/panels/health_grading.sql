-- How long from the end of a run to its verdict? Median and 95th percentile in seconds, of runs graded closed.
-- The quiet time after the root (runs.settle_s) is part of it. Much more: the grader is behind, or runs never end.
SELECT $__timeInterval_ms(graded_at) AS time,
    quantile(0.5)(lag_s) AS p50_s, quantile(0.95)(lag_s) AS p95_s
FROM
(
    SELECT graded_at, greatest(0, (toUnixTimestamp64Milli(graded_at) - toUnixTimestamp64Milli(ended)) / 1e3) AS lag_s
    FROM trials
    WHERE $__timeFilter_ms(graded_at) AND result != 'pending' AND revision = 1
)
GROUP BY time
ORDER BY time
