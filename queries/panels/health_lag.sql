-- How long from the end of a span to the store? Median and 95th percentile in seconds.
-- Batching exporters alone make 5 s. More is a full spool, a slow store, or a client that retries. Clocks of clients count in.
SELECT $__timeInterval_ms(stored_at) AS time,
    quantile(0.5)(lag_s) AS p50_s, quantile(0.95)(lag_s) AS p95_s
FROM
(
    SELECT stored_at, greatest(0, toUnixTimestamp64Milli(stored_at) / 1e3 - end_ns / 1e9) AS lag_s
    FROM spans
    WHERE $__timeFilter_ms(stored_at) AND start >= $__fromTime_ms - INTERVAL 2 DAY
)
GROUP BY time
ORDER BY time
