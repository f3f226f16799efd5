-- How did reliability move? For each point in time from start to end (both included), the trailing window before it.
-- One row per time, project, task_id, task_version, checks_version, basis. Points lie on whole hours, step_s apart, from the
-- first hour at or after start; step_s and window_s are rounded up to whole hours. Empty hours are filled.
-- low, high hold per look for independent trials (task_reliability knows the day-to-day design effect); they cost more
-- than the rest: leave them out where they are not shown.
-- Method: each task's counts as one array, summed up once along the hours; a window is the difference of two sums.
CREATE OR REPLACE VIEW reliability_over_time AS
WITH
    toUInt32(greatest(1, ceil({step_s:UInt32} / 3600))) AS step_h,
    toUInt32(greatest(1, ceil({window_s:UInt32} / 3600))) AS window_h,
    toStartOfHour({start:DateTime64(3, 'UTC')} + toIntervalMillisecond(3599999)) AS first_point,
    toStartOfHour({end:DateTime64(3, 'UTC')}) AS last_point,
    first_point - toIntervalHour(window_h) AS base,
    toUInt32(greatest(0, dateDiff('hour', base, last_point))) AS hours,
    (SELECT (errors_fail, incomplete_fail, retries_count) FROM policy_in_force) AS policy_now
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
            -- Sums up to the end of each hour that has trials, carried on to the next that has.
            arrayMap((this, next) -> this != next, hour_of, arrayPushBack(arrayPopFront(hour_of), 0)) AS is_last,
            arrayPushFront(arrayFilter((h, last) -> last, hour_of, is_last), 0) AS hours_with,
            arrayPushFront(arrayFilter((x, last) -> last, arrayCumSum(arraySort((x, h) -> h, n_of, at)), is_last), 0) AS n_sum,
            arrayPushFront(arrayFilter((x, last) -> last, arrayCumSum(arraySort((x, h) -> h, c_of, at)), is_last), 0) AS c_sum,
            arrayFill(x -> x > 0, mapPopulateSeries(hours_with, n_sum, hours).2) AS n_to,
            arrayFill(x -> x > 0, mapPopulateSeries(hours_with, c_sum, hours).2) AS c_to,
            arrayJoin(range(if(hours < window_h, 0, intDiv(hours - window_h, step_h) + 1))) AS point
        FROM
        (
            SELECT
                project, task_id, task_version, checks_version, basis,
                argMax(task_class, hour) AS task_class,
                if(max(task_source != 'fallback'), 'attribute', 'fallback') AS task_source,
                groupArray(toUInt32(dateDiff('hour', base, hour) + 1)) AS at, arraySort(at) AS hour_of,
                groupArray(pass + fail + if(policy_now.1, error, 0) + if(policy_now.2, incomplete, 0)) AS n_of,
                groupArray(pass) AS c_of
            FROM hour_counts FINAL
            WHERE hour >= base AND hour < last_point AND (NOT retry OR policy_now.3)
            GROUP BY project, task_id, task_version, checks_version, basis
            HAVING arraySum(n_of) > 0
        )
    )
)
