-- How many spans and log records arrive? Stored a minute, by collector.
-- A collector that stops here while its clients send has lost the store or its disk: look at its log and /metrics.
SELECT $__timeInterval_ms(stored_at) AS time, collector, sum(spans) * 60000 / $__interval_ms AS spans_per_minute
FROM arrivals
WHERE $__timeFilter_ms(stored_at)
GROUP BY time, collector
ORDER BY time, collector
