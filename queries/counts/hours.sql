-- Counts the trials of some hours anew, into hour_counts.
-- The runs `passhat doctor` sends itself count nowhere.
-- Grain: one row per hour and cell. Live rows, and zeros for the cells that exist: a cell whose last run moved away must not
-- keep its count. The stamp sums the ranks of all rows of the hour, withdrawn ones too: it grows with every write, so of
-- two graders' counts the one that saw more replaces the other, whichever was written last.
INSERT INTO hour_counts
(
    project, hour, task_id, task_version, checks_version, basis, task_class, task_source, retry,
    environment, service, service_version, agent, model,
    pass, fail, error, invalid, awaiting_outcome, nothing_judged, evidence, incomplete, pending, stamp
)
SELECT
    project, hour, task_id, task_version, checks_version, basis, task_class, task_source, retry,
    environment, service, service_version, agent, model,
    countIf(live = 'pass'), countIf(live = 'fail'), countIf(live = 'error'), countIf(live = 'invalid'),
    countIf(live = 'unknown' AND reason = 'awaiting_outcome'), countIf(live = 'unknown' AND reason = 'nothing_judged'),
    countIf(live = 'unknown' AND reason NOT IN ('awaiting_outcome', 'nothing_judged')),
    countIf(live = 'incomplete'), countIf(live = 'pending'),
    sum(sum(rank)) OVER (PARTITION BY project, hour)
FROM
(
    SELECT
        project, hour, task_id, task_version, checks_version, basis, task_class, task_source, retry,
        environment, service, service_version, agent, model,
        if(alive AND service != 'passhat-doctor', result, '') AS live, reason, toUInt256(rank) AS rank
    FROM run_hours FINAL
    WHERE (project, hour) IN {hours:Array(Tuple(String, DateTime('UTC')))}
    UNION ALL
    SELECT
        project, hour, task_id, task_version, checks_version, basis, task_class, task_source, retry,
        environment, service, service_version, agent, model,
        '', '', 0
    FROM hour_counts
    WHERE (project, hour) IN {hours:Array(Tuple(String, DateTime('UTC')))}
)
GROUP BY
    project, hour, task_id, task_version, checks_version, basis, task_class, task_source, retry,
    environment, service, service_version, agent, model
