-- The trials of each task in [start, end) day by day: what task and suite rates are summed from.
-- One row per project, task_class, task_source, task_id, task_version, checks_version, basis and UTC day.
CREATE OR REPLACE VIEW task_days AS
SELECT
    project, task_class, task_source, task_id, task_version, checks_version, basis, toDate(hour) AS day,
    sum(n) AS n, sum(c) AS c, sum(attempted) AS attempted, sum(errors) AS errors, sum(invalid) AS invalid,
    sum(unknown) AS unknown, sum(incomplete) AS incomplete, sum(pending) AS pending,
    sum(awaiting_outcome) AS awaiting_outcome, sum(nothing_judged) AS nothing_judged, sum(evidence) AS evidence
FROM counts_between(start={start:DateTime64(3, 'UTC')}, end={end:DateTime64(3, 'UTC')}) AS counts
GROUP BY project, task_class, task_source, task_id, task_version, checks_version, basis, day
