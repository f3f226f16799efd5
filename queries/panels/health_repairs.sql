-- What was wrong with what came? Flags of spans of the range: repaired values, cut texts, absurd times.
SELECT arrayJoin(flags) AS flag, count() AS spans, uniqExact(service) AS services, any(service) AS for_example, max(stored_at) AS latest
FROM spans
WHERE $__timeFilter_ms(stored_at) AND start >= $__fromTime_ms - INTERVAL 2 DAY
GROUP BY flag
ORDER BY spans DESC, flag
