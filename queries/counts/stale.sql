-- Which hours are counted otherwise than they are stored, and which days otherwise than their hours?
-- Grain: one row per project and hour; a day is told by its first. A crash between a run's row and its recount leaves one.
SELECT project, hour
FROM
(
    SELECT project, hour, sum(toUInt256(rank)) AS due
    FROM run_hours FINAL
    GROUP BY project, hour
) AS stored
LEFT JOIN
(
    SELECT project, hour, max(stamp) AS stamp
    FROM hour_counts FINAL
    GROUP BY project, hour
) AS counted USING (project, hour)
WHERE due != stamp
UNION ALL
SELECT project, day
FROM
(
    SELECT project, toStartOfDay(hour) AS day, sum(stamp) AS due
    FROM hour_counts FINAL
    GROUP BY project, day
) AS hours
LEFT JOIN
(
    SELECT project, day, max(stamp) AS stamp
    FROM day_counts FINAL
    GROUP BY project, day
) AS days USING (project, day)
WHERE due != stamp
