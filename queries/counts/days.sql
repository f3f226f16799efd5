-- Counts the trials of some days anew, into day_counts, from all their hours.
-- Grain: one row per day and cell. Vanished cells keep a row of zeros in their hours, so none is added here.
INSERT INTO day_counts
(
    project, day, task_id, task_version, checks_version, basis, task_class, task_source, retry,
    environment, service, service_version, agent, model,
    pass, fail, error, invalid, awaiting_outcome, nothing_judged, evidence, incomplete, pending, stamp
)
SELECT
    project, toStartOfDay(hour) AS day, task_id, task_version, checks_version, basis, task_class, task_source, retry,
    environment, service, service_version, agent, model,
    sum(pass), sum(fail), sum(error), sum(invalid), sum(awaiting_outcome), sum(nothing_judged), sum(evidence),
    sum(incomplete), sum(pending),
    sum(sum(stamp)) OVER (PARTITION BY project, day)
FROM hour_counts FINAL
WHERE (project, hour) IN {hours:Array(Tuple(String, DateTime('UTC')))}
GROUP BY
    project, day, task_id, task_version, checks_version, basis, task_class, task_source, retry,
    environment, service, service_version, agent, model
