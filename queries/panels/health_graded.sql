-- How many runs are graded? Gradings a minute by result; regrading shows as a hump.
SELECT $__timeInterval_ms(graded_at) AS time, result, count() * 60000 / $__interval_ms AS runs_per_minute
FROM trials
WHERE $__timeFilter_ms(graded_at)
GROUP BY time, result
ORDER BY time, result
