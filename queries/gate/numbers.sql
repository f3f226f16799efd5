-- Question: what does a gate decide on, of the trials that ended in [start, end)?
-- Grain: one row. Counted are trials of the newest version of each task, judged by the checks in force, on one basis, of the
-- given (service, service_version). The others are told beside: superseded, other_checks, other_basis, and for `class`
-- the trials of tasks nobody named: unnamed.
-- by: `task` (tries of one task) and `stream` (all trials as one sequence): pass^k = C(c, k) / C(n, k), ends gateLow and
-- gateHigh. `class`: the mean of pass^k over the tasks with n >= k. Its ends follow from the mean pass rate m over these
-- tasks, since m^k <= mean(p^k) <= m: gateLow and gateHigh of m at the size weight = T^2 / sum(1 / n), which is n when all
-- tasks are tried equally often.
-- recent_*: the same trials of [recent, end); recent_high holds per look at 95 %.
WITH
    counted AS
    (
        SELECT
            project, task_class, task_source, task_id, task_version, checks_version, basis, toDate(at) AS day,
            sum(n) AS n_, sum(c) AS c_, sum(attempted) AS attempted_, sum(errors) AS errors_, sum(invalid) AS invalid_,
            sum(unknown) AS unknown_, sum(incomplete) AS incomplete_, sum(pending) AS pending_
        FROM counts_between(start={start:DateTime64(3, 'UTC')}, end={end:DateTime64(3, 'UTC')}) AS counts
        WHERE (service, service_version) IN {versions:Array(Tuple(String, String))}
        GROUP BY project, task_class, task_source, task_id, task_version, checks_version, basis, day
    ),
    latest AS
    (
        SELECT project, task_class, task_id, task_version, checks_version, basis, sum(n) AS recent_n_, sum(c) AS recent_c_
        FROM counts_between(start={recent:DateTime64(3, 'UTC')}, end={end:DateTime64(3, 'UTC')}) AS counts
        WHERE (service, service_version) IN {versions:Array(Tuple(String, String))}
        GROUP BY project, task_class, task_id, task_version, checks_version, basis
    ),
    sorted AS
    (
        SELECT
            *,
            multiIf(
                (first_ended, task_version) != max((first_ended, task_version)) OVER (PARTITION BY project, task_id), 'superseded',
                known AND checks_version != version_in_force, 'other_checks',
                basis != {counted_basis:String}, 'other_basis',
                {by:String} = 'class' AND task_source = 'fallback', 'unnamed',
                'counted') AS place
        FROM counted
        LEFT JOIN
        (
            SELECT project, task_id, task_version, min(first_ended) AS first_ended
            FROM task_versions
            GROUP BY project, task_id, task_version
        ) AS versions USING (project, task_id, task_version)
        LEFT JOIN
        (
            SELECT project, task_id, task_class, checks_version AS version_in_force, true AS known
            FROM checks_in_force FINAL
        ) AS forced USING (project, task_id, task_class)
    ),
    each_task AS
    (
        SELECT
            project, task_id, any(task_version) AS newest, groupUniqArray(checks_version) AS checks,
            sum(n_) AS n, sum(c_) AS c, sum(attempted_) AS attempted, sum(errors_) AS errors, sum(invalid_) AS invalid,
            sum(unknown_) AS unknown, sum(incomplete_) AS incomplete, sum(pending_) AS pending,
            passHatK(n, c, {k:UInt32}) AS hat, n >= {k:UInt32} AS used,
            max(task_source != 'fallback') AS is_named
        FROM sorted
        WHERE place = 'counted'
        GROUP BY project, task_id
    ),
    day_sums AS
    (
        SELECT day, sum(n_) AS n, sum(c_) AS c
        FROM sorted
        WHERE place = 'counted' AND n_ > 0
        GROUP BY day
    ),
    (SELECT (count(), sum(toFloat64(c) * c / n)) FROM day_sums) AS spread,
    (SELECT (sumIf(attempted_, place = 'superseded'), sumIf(attempted_, place = 'other_checks'),
             sumIf(attempted_, place = 'other_basis'), sumIf(attempted_, place = 'unnamed')) FROM sorted) AS beside,
    (SELECT (sum(recent_n_), sum(recent_c_)) FROM latest
     WHERE (project, task_class, task_id, task_version, checks_version, basis) IN
         (SELECT project, task_class, task_id, task_version, checks_version, basis FROM sorted WHERE place = 'counted'))
        AS recent
SELECT
    {by:String} = 'class' AS whole,
    tasks, tasks_used, n, c, attempted, errors, invalid, unknown, incomplete, pending,
    ifNull(beside.1, 0) AS superseded, ifNull(beside.2, 0) AS other_checks, ifNull(beside.3, 0) AS other_basis,
    ifNull(beside.4, 0) AS unnamed, named,
    task_versions, checks_versions,
    ifNull(spread.1, 0) AS days, designEffect(n, c, days, ifNull(spread.2, 0.)) AS deff,
    if(whole, mean_hat, passHatK(n, c, {k:UInt32})) AS pass_hat_k,
    if(whole, ifNull(weight, 0.), toFloat64(n)) AS size,
    if(whole, ifNull(weight * mean_rate, 0.), toFloat64(c)) AS passed,
    if(size <= 0, NULL, least(gateLow(size, passed, {k:UInt32}, deff, {alpha:Float64}), ifNull(pass_hat_k, 1.))) AS low,
    if(size <= 0, NULL,
        greatest(gateHigh(size, passed, if(whole, 1, {k:UInt32}), deff, {alpha:Float64}), ifNull(pass_hat_k, 0.))) AS high,
    csNeeded(size, passed, {k:UInt32}, deff, {alpha:Float64}, {min:Float64}) AS needed,
    ifNull(recent.1, 0) AS recent_n, ifNull(recent.2, 0) AS recent_c,
    pow(csHigh(recent_n, recent_c, 0.05), if(whole, 1, {k:UInt32})) AS recent_high,
    if(whole, arrayMap(t -> (t.2, t.3, t.4, t.1), worst), []) AS worst_tasks
FROM
(
    SELECT
        count() AS tasks, countIf(used) AS tasks_used, countIf(is_named) AS named,
        sum(one.n) AS n, sum(one.c) AS c, sum(one.attempted) AS attempted, sum(one.errors) AS errors,
        sum(one.invalid) AS invalid,
        sum(one.unknown) AS unknown, sum(one.incomplete) AS incomplete, sum(one.pending) AS pending,
        arraySort(groupUniqArray(newest)) AS task_versions, arraySort(groupUniqArrayArray(checks)) AS checks_versions,
        sumIf(one.c / one.n, used) / nullIf(tasks_used, 0) AS mean_rate,
        tasks_used * tasks_used / nullIf(sumIf(1 / one.n, used), 0) AS weight,
        sumIf(ifNull(hat, 0.), used) / nullIf(tasks_used, 0) AS mean_hat,
        arraySlice(arraySort(groupArrayIf((ifNull(hat, 0.), task_id, one.n, one.c), used)), 1, 5) AS worst
    FROM each_task AS one
)
