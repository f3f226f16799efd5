-- Copies each written run to its hour (alive as it is) and to every hour it was in before (alive = 0).
CREATE MATERIALIZED VIEW IF NOT EXISTS run_hours_feed TO run_hours AS
SELECT
    project, at.1 AS hour, run_key, rank, at.2 AS alive, ended,
    task_id, task_version, checks_version, basis, task_class, task_source, retry_of != '' AS retry,
    environment, service, service_version, agent, model, result, reason
FROM
(
    SELECT *, run_key, rank, arrayJoin(arrayConcat([(hour, alive)], arrayMap(h -> (h, false), prev_hours))) AS at
    FROM runs
)
