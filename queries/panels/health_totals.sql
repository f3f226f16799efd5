-- What came in over the range? Spans stored, traces touched, collectors that wrote, and when the last span came.
SELECT sum(spans) AS spans, uniq(project, trace_id) AS traces, uniqExact(collector) AS collectors,
    if(max(stored_at) < toDateTime64('2000-01-01 00:00:00', 3, 'UTC'), NULL, dateDiff('second', max(stored_at), now64(3))) AS last_s
FROM arrivals
WHERE $__timeFilter_ms(stored_at)
