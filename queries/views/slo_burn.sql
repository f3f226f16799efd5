-- Is an objective being missed too fast? Each SLO of the configuration and each of its pairs of windows, up to now.
-- One row per slo and pair. burn = failure rate / (1 - target^(1/k)): at 1 the allowance is used up exactly as it accrues.
-- firing: both windows burn faster than the pair allows, on at least min_n trials in the long one.
-- Counted are trials of the newest version of each task and the checks in force; on basis outcome where any has one.
CREATE OR REPLACE VIEW slo_burn AS
WITH
    now64(3, 'UTC') AS now_,
    toStartOfHour(now_) AS this_hour,
    (SELECT (errors_fail, incomplete_fail, retries_count) FROM policy_in_force) AS policy_now,
    slos AS
    (
        SELECT
            JSONExtractString(slo_json, 'name') AS slo,
            JSONExtractString(slo_json, 'task') AS slo_task, JSONExtractString(slo_json, 'class') AS slo_class,
            greatest(1, JSONExtractUInt(slo_json, 'k')) AS k, JSONExtractFloat(slo_json, 'target') AS target,
            JSONExtractUInt(slo_json, 'min_n') AS min_n,
            JSONExtractUInt(pair, 'long') AS window_long, JSONExtractUInt(pair, 'short') AS window_short,
            JSONExtractFloat(pair, 'burn') AS burn_limit,
            now_ - toIntervalSecond(window_long) AS since_long, now_ - toIntervalSecond(window_short) AS since_short,
            toStartOfHour(since_long + toIntervalMillisecond(3599999)) AS whole_long,
            toStartOfHour(since_short + toIntervalMillisecond(3599999)) AS whole_short
        FROM
        (
            SELECT slo_json, arrayJoin(JSONExtractArrayRaw(slo_json, 'windows')) AS pair
            FROM (SELECT arrayJoin(JSONExtractArrayRaw(value)) AS slo_json FROM policy FINAL WHERE name = 'slos')
        )
    ),
    longest AS (SELECT max(window_long) FROM slos),
    edges AS
    (
        SELECT toStartOfHour(arrayJoin([since_long, since_short])) FROM slos
        UNION ALL
        SELECT this_hour
    ),
    -- Hours as counted, and beside them the single trials of those hours in which a window begins or ends.
    counted AS
    (
        SELECT
            project, task_id, task_version, task_class, checks_version, basis, false AS single,
            toDateTime64(hour, 3, 'UTC') AS at,
            pass AS passed, pass + fail + if(policy_now.1, error, 0) + if(policy_now.2, incomplete, 0) AS tried
        FROM hour_counts FINAL
        WHERE hour >= this_hour - toIntervalSecond((SELECT * FROM longest)) AND hour < this_hour AND (NOT retry OR policy_now.3)
        UNION ALL
        SELECT
            project, task_id, task_version, task_class, checks_version, basis, true, ended,
            toUInt64(result = 'pass'),
            toUInt64(result IN ('pass', 'fail') OR (policy_now.1 AND result = 'error')
                OR (policy_now.2 AND result = 'incomplete'))
        FROM run_hours FINAL
        WHERE hour IN (SELECT * FROM edges) AND alive AND service != 'passhat-doctor' AND (NOT retry OR policy_now.3)
    ),
    newest AS
    (
        SELECT project, task_id, argMax(task_version, (first_seen, task_version)) AS task_version
        FROM (SELECT project, task_id, task_version, min(first_ended) AS first_seen FROM task_versions GROUP BY ALL)
        GROUP BY project, task_id
    ),
    trials_in_force AS
    (
        SELECT *
        FROM counted
        WHERE (project, task_id, task_version) IN (SELECT project, task_id, task_version FROM newest)
            AND (project, task_id, task_class, checks_version) IN
                (SELECT project, task_id, task_class, checks_version FROM checks_in_force FINAL)
    )
SELECT
    slo, window_long, window_short, n_long AS n, n_short,
    if(n_long = 0, NULL, (1 - c_long / n_long) / allowance) AS burn_long,
    if(n_short = 0, NULL, (1 - c_short / n_short) / allowance) AS burn_short,
    toBool(n_long >= min_n AND ifNull(burn_long > burn_limit AND burn_short > burn_limit, false)) AS firing,
    k, target, burn_limit, min_n, if(by_outcome, 'outcome', 'trajectory') AS basis
FROM
(
    SELECT
        slo, window_long, window_short, any(k) AS k, any(target) AS target, any(burn_limit) AS burn_limit, any(min_n) AS min_n,
        1 - pow(target, 1 / k) AS allowance,
        maxIf(basis = 'outcome', in_long AND tried > 0) AS by_outcome,
        ifNull(sumIf(tried, in_long AND basis = if(outcomes, 'outcome', 'trajectory')), 0) AS n_long,
        ifNull(sumIf(passed, in_long AND basis = if(outcomes, 'outcome', 'trajectory')), 0) AS c_long,
        ifNull(sumIf(tried, in_short AND basis = if(outcomes, 'outcome', 'trajectory')), 0) AS n_short,
        ifNull(sumIf(passed, in_short AND basis = if(outcomes, 'outcome', 'trajectory')), 0) AS c_short
    FROM
    (
        SELECT *, max(in_long AND tried > 0 AND basis = 'outcome') OVER (PARTITION BY slo, window_long, window_short) AS outcomes
        FROM
        (
            SELECT
                *,
                tried > 0 AND at < now_ AND at >= since_long
                    AND if(single, at < whole_long OR at >= this_hour, at >= whole_long) AS in_long,
                tried > 0 AND at < now_ AND at >= since_short
                    AND if(single, at < whole_short OR at >= this_hour, at >= whole_short) AS in_short
            FROM
            (
                SELECT slos.*, basis, single, at, passed, tried
                FROM slos CROSS JOIN trials_in_force
                WHERE (slo_task = '' OR slo_task = task_id) AND (slo_class = '' OR slo_class = task_class)
                UNION ALL
                SELECT *, '', false, now_, 0, 0
                FROM slos
            )
        )
    )
    GROUP BY slo, window_long, window_short
)
