-- Takes each written run's checks version: the one of the greatest epoch is in force for its task.
CREATE MATERIALIZED VIEW IF NOT EXISTS checks_in_force_feed TO checks_in_force AS
SELECT project, task_id, task_class, checks_version, epoch
FROM runs
WHERE alive
