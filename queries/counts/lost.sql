-- Which of some runs stand in an hour that their current row neither is in nor left: put there by a grader that lost?
-- Grain: one row per run and such hour.
SELECT project, run_id, toUnixTimestamp(places.hour) AS hour_s
FROM
(
    SELECT project, run_id, run_key, hour, prev_hours, alive
    FROM runs FINAL
    WHERE (project, run_key) IN
    (
        SELECT key.1, reinterpretAsUInt128(sipHash128(key.1, key.2))
        FROM (SELECT arrayJoin({keys:Array(Tuple(String, String))}) AS key)
    )
) AS current
INNER JOIN
(
    SELECT DISTINCT project, run_key, hour
    FROM run_places
    WHERE (project, run_key) IN
    (
        SELECT key.1, reinterpretAsUInt128(sipHash128(key.1, key.2))
        FROM (SELECT arrayJoin({keys:Array(Tuple(String, String))}) AS key)
    )
) AS places USING (project, run_key)
WHERE places.hour != current.hour AND NOT has(current.prev_hours, places.hour)
