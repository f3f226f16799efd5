-- Takes runs out of hours in which a losing revision of another grader had put them, into run_hours.
-- Grain: one row per run and such hour, of the current revision's rank.
INSERT INTO run_hours (project, hour, run_key, rank, alive)
SELECT project, left_hour, run_key, rank, false
FROM
(
    SELECT project, run_id, run_key, rank
    FROM runs FINAL
    WHERE (project, run_key) IN
    (
        SELECT one.1, reinterpretAsUInt128(sipHash128(one.1, one.2))
        FROM (SELECT arrayJoin({lost:Array(Tuple(String, String, DateTime('UTC')))}) AS one)
    )
) AS current
INNER JOIN
(
    SELECT one.1 AS project, one.2 AS run_id, one.3 AS left_hour
    FROM (SELECT arrayJoin({lost:Array(Tuple(String, String, DateTime('UTC')))}) AS one)
) AS lost USING (project, run_id)
