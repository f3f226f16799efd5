-- How reliable was each suite of tasks in [start, end)?
-- One row per project, basis and task_class, and one for all classes (task_class 'all', whole = true).
-- pass_at_k, pass_hat_k: the mean over named tasks with n >= k, each at its newest version and the checks in force;
-- tasks_used of tasks, flagged 'selected' below 0.8. low, high: a t interval over those tasks with one pseudo-task at 0 (low)
-- and one at 1 (high), NULL under 8 tasks. stream_*: k different requests in a row, C(c, k) / C(n, k) over all trials,
-- tasks nobody named included; n and c are divided by stream_deff for its interval. k is a column of its own above the
-- tasks, so that a reader of several k asks one question of one moment.
CREATE OR REPLACE VIEW suite_reliability AS
SELECT
    project, task_class, whole, basis, tasks, tasks_used, n, c,
    at_mean AS pass_at_k, hat_mean AS pass_hat_k,
    if(tasks_used < 8, NULL, greatest(0., least(hat_mean, tupleElement(
        arrayReduce('studentTTestOneSample(0.95)', arrayPushBack(hats, 0.), arrayResize([0.], length(hats) + 1, 0.)),
        'confidence_interval_low')))) AS low,
    if(tasks_used < 8, NULL, least(1., greatest(hat_mean, tupleElement(
        arrayReduce('studentTTestOneSample(0.95)', arrayPushBack(hats, 1.), arrayResize([0.], length(hats) + 1, 0.)),
        'confidence_interval_high')))) AS high,
    passHatK(n, c, k) AS stream_pass_hat_k,
    lookLow(n, c, k, stream_deff) AS stream_low,
    lookHigh(n, c, k, stream_deff) AS stream_high,
    'look' AS guarantee,
    if(tasks > 0 AND tasks_used < 0.8 * tasks, 'selected', '') AS flag,
    superseded, other_checks, days, stream_deff, k
FROM
(
    SELECT
        k, project, task_class, whole, basis, tasks, tasks_used, n, c, at_mean, hat_mean, hats, superseded, other_checks,
        length(by_day) AS days,
        designEffect(n, c, length(by_day), arraySum(d -> d.2 * d.2 / d.1, by_day)) AS stream_deff
    FROM
    (
        SELECT
            k, project, task_class, whole, basis,
            countIf(named) AS tasks, countIf(named AND trials >= k) AS tasks_used,
            sum(trials) AS n, sum(passed) AS c, sum(older) AS superseded, sum(elsewhere) AS other_checks,
            arraySort(groupArrayIf(assumeNotNull(at), named AND trials >= k)) AS ats,
            arraySort(groupArrayIf(assumeNotNull(hat), named AND trials >= k)) AS hats,
            if(tasks_used = 0, NULL, arrayAvg(ats)) AS at_mean,
            if(tasks_used = 0, NULL, arrayAvg(hats)) AS hat_mean,
            sumMap(arrayMap(d -> d.1, days), arrayMap(d -> d.2, days), arrayMap(d -> d.3, days)) AS day_sums,
            arrayZip(day_sums.2, day_sums.3) AS by_day
        FROM
        (
            SELECT
                {k:UInt32} AS k, project, task_class, whole, basis, task_source != 'fallback' AS named, n AS trials, c AS passed,
                superseded AS older, other_checks AS elsewhere, days,
                passAtK(n, c, k) AS at, passHatK(n, c, k) AS hat
            FROM suite_tasks(start={start:DateTime64(3, 'UTC')}, end={end:DateTime64(3, 'UTC')}) AS tasks_of_suites
        )
        GROUP BY k, project, task_class, whole, basis
    )
)
