-- For how many seconds do runs wait that should have been graded? The oldest trace of an agent whose root arrived in the last
-- six hours and that has no run yet; 0 when there is none. Grows while the grader is stuck.
SELECT toFloat64(ifNull(dateDiff('second', minOrNull(last), now()), 0)) AS waiting_s
FROM
(
    SELECT project, unit, max(stored_at) AS last
    FROM arrivals
    WHERE stored_at >= now() - INTERVAL 6 HOUR AND spans > 0 AND root
        AND trace_id IN
        (
            SELECT trace_id FROM spans
            WHERE stored_at >= now() - INTERVAL 6 HOUR AND start >= now() - INTERVAL 2 DAY AND operation IN ('agent', 'chat', 'tool')
        )
    GROUP BY project, unit
) AS arrived
LEFT ANTI JOIN
(
    SELECT project, arrayJoin(units) AS unit
    FROM runs FINAL
    WHERE graded_at >= now() - INTERVAL 7 HOUR
) AS graded USING (project, unit)
