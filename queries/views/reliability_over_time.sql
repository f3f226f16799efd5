-- How did reliability move? For each point in time from start to end (both included), the trailing window before it.
-- One row per time, project, task_id, task_version, checks_version, basis. Points lie on whole hours, step_s apart, from the
-- first hour at or after start; step_s and window_s are rounded up to whole hours. Empty hours are filled.
-- low, high hold per look for independent trials (task_reliability knows the day-to-day design effect); they cost more
-- than the rest: leave them out where they are not shown.
-- Method: each task's counts by hour as one dense array, summed up once; a window is the difference of two sums.
CREATE OR REPLACE VIEW reliability_over_time AS
WITH
    toUInt32(greatest(1, ceil({step_s:UInt32} / 3600))) AS step_h,
    toUInt32(greatest(1, ceil({window_s:UInt32} / 3600))) AS window_h,
    toStartOfHour({start:DateTime64(3, 'UTC')} + toIntervalMillisecond(3599999)) AS first_point,
    toStartOfHour({end:DateTime64(3, 'UTC')}) AS last_point,
    first_point - toIntervalHour(window_h) AS base,
    toUInt32(greatest(0, dateDiff('hour', base, last_point))) AS hours
SELECT
    time, project, task_id, task_version, checks_version, basis, n, c,
    if(task_source = 'fallback', NULL, passAtK(n, c, {k:UInt32})) AS pass_at_k,
    passHatK(n, c, {k:UInt32}) AS pass_hat_k,
    lookLow(n, c, {k:UInt32}, 1.) AS low,
    lookHigh(n, c, {k:UInt32}, 1.) AS high,
    'look' AS guarantee,
    task_class, task_source
FROM
(
    SELECT
        project, task_id, task_version, checks_version, basis, task_class, task_source,
        base + toIntervalHour(window_h + point * step_h) AS time,
        n_to[point * step_h + window_h + 1] - n_to[point * step_h + 1] AS n,
        c_to[point * step_h + window_h + 1] - c_to[point * step_h + 1] AS c
    FROM
    (
        SELECT
            project, task_id, task_version, checks_version, basis, task_class, task_source,
            arrayCumSum(mapPopulateSeries(arrayPushFront(at, 0), arrayPushFront(n_at, 0), hours).2) AS n_to,
            arrayCumSum(mapPopulateSeries(arrayPushFront(at, 0), arrayPushFront(c_at, 0), hours).2) AS c_to,
            arrayJoin(range(if(hours < window_h, 0, intDiv(hours - window_h, step_h) + 1))) AS point
        FROM
        (
            SELECT
                project, task_id, task_version, checks_version, basis,
                argMax(class, hour_) AS task_class, if(max(named), 'attribute', 'fallback') AS task_source,
                groupArray(toUInt32(dateDiff('hour', base, hour_) + 1)) AS at, groupArray(n_) AS n_at, groupArray(c_) AS c_at
            FROM
            (
                SELECT
                    project, task_id, task_version, checks_version, basis, hour AS hour_,
                    any(task_class) AS class, max(task_source != 'fallback') AS named, sum(n) AS n_, sum(c) AS c_
                FROM counts_between(start=toDateTime64(base, 3, 'UTC'), end=toDateTime64(last_point, 3, 'UTC')) AS counts
                GROUP BY project, task_id, task_version, checks_version, basis, hour_
            )
            GROUP BY project, task_id, task_version, checks_version, basis
        )
    )
)
