-- Which conventions do the spans speak? Spans of the range by dialect; an empty one was understood by none.
-- Spans that none understands are kept, and are no part of a trajectory: add a dialect (docs/dialects.md).
SELECT if(dialect = '', 'none', dialect) AS dialect, count() AS spans, countIf(operation != '') AS with_operation,
    uniqExact(service) AS services, any(service) AS for_example
FROM spans
WHERE $__timeFilter_ms(stored_at) AND start >= $__fromTime_ms - INTERVAL 2 DAY
GROUP BY dialect
ORDER BY spans DESC, dialect
