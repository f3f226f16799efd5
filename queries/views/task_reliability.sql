-- How reliable was each task in [start, end)?
-- One row per project, task_id, task_version, checks_version, basis: versions and bases are never summed.
-- pass_at_k and pass_hat_k are NULL where n < k; pass_at_k also for tasks nobody named (task_source fallback: a stream).
-- pass_hat_k_worst counts all that was left out as failed. low, high belong to pass_hat_k and hold per look; n and c are
-- divided by deff, the day-to-day design effect. flag: the first that applies. k is a column of its own below the rates, so
-- that a reader of several k asks one question of one moment.
CREATE OR REPLACE VIEW task_reliability AS
SELECT
    project, task_id, task_version, checks_version, basis, task_class, task_source,
    n, c, errors, invalid, unknown, incomplete,
    if(task_source = 'fallback', NULL, passAtK(n, c, k)) AS pass_at_k,
    passHatK(n, c, k) AS pass_hat_k,
    passHatK(attempted, c, k) AS pass_hat_k_worst,
    lookLow(n, c, k, deff) AS low,
    lookHigh(n, c, k, deff) AS high,
    'look' AS guarantee,
    multiIf(
        c = 0 AND n >= 5, 'never_passes',
        n < k, 'too_few',
        task_source != 'fallback' AND ifNull(passAtK(n, c, 3) >= 0.9 AND passHatK(n, c, 3) <= 0.2, false), 'flaky',
        days < 5, 'clustered_unknown',
        (project, task_id, task_version) IN
        (
            SELECT project, task.1, task.2
            FROM
            (
                SELECT project, arrayJoin(groupUniqArray((task_id, task_version))) AS task
                FROM run_workspaces FINAL
                WHERE alive AND ended >= {start:DateTime64(3, 'UTC')} AND ended < {end:DateTime64(3, 'UTC')}
                GROUP BY project, workspace_id
                HAVING count() > 1
            )
        ), 'shared_workspace',
        '') AS flag,
    attempted, pending, awaiting_outcome, nothing_judged, evidence, days, deff, k
FROM
(
    SELECT
        {k:UInt32} AS k, project, task_id, task_version, checks_version, basis,
        argMax(class, attempted_) AS task_class, if(max(named), 'attribute', 'fallback') AS task_source,
        sum(n_) AS n, sum(c_) AS c, sum(attempted_) AS attempted, sum(errors_) AS errors, sum(invalid_) AS invalid,
        sum(unknown_) AS unknown, sum(incomplete_) AS incomplete, sum(pending_) AS pending,
        sum(awaiting_outcome_) AS awaiting_outcome, sum(nothing_judged_) AS nothing_judged, sum(evidence_) AS evidence,
        countIf(n_ > 0) AS days, designEffect(n, c, days, sumIf(c_ * c_ / n_, n_ > 0)) AS deff
    FROM
    (
        SELECT
            project, task_id, task_version, checks_version, basis, toDate(at) AS day,
            argMax(task_class, attempted) AS class, max(task_source != 'fallback') AS named,
            sum(n) AS n_, sum(c) AS c_, sum(attempted) AS attempted_, sum(errors) AS errors_, sum(invalid) AS invalid_,
            sum(unknown) AS unknown_, sum(incomplete) AS incomplete_, sum(pending) AS pending_,
            sum(awaiting_outcome) AS awaiting_outcome_, sum(nothing_judged) AS nothing_judged_, sum(evidence) AS evidence_
        FROM counts_between(start={start:DateTime64(3, 'UTC')}, end={end:DateTime64(3, 'UTC')}) AS counts
        GROUP BY project, task_id, task_version, checks_version, basis, day
    )
    GROUP BY project, task_id, task_version, checks_version, basis
)
