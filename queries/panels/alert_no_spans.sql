-- For how many minutes did no span arrive? Counted up to a day; no row at all is no data, which alerts too.
SELECT toFloat64(least(1440, dateDiff('minute', max(stored_at), now()))) AS quiet_minutes
FROM arrivals
WHERE stored_at >= now() - INTERVAL 1 DAY
HAVING count() > 0
