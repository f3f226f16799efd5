-- Who sends? Services with spans in the range, and when the last one came.
SELECT service, service_version AS version, environment, count() AS spans, uniq(trace_id) AS traces, max(stored_at) AS latest
FROM spans
WHERE $__timeFilter_ms(stored_at) AND start >= $__fromTime_ms - INTERVAL 2 DAY
GROUP BY service, version, environment
ORDER BY latest DESC, service, version, environment
LIMIT 200
