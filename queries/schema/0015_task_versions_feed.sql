-- Takes each written run into task_versions: min and max only, so repeated writes change nothing.
CREATE MATERIALIZED VIEW IF NOT EXISTS task_versions_feed TO task_versions AS
SELECT project, task_id, task_version, ended AS first_ended, toUInt8(outcome != '') AS has_outcome
FROM runs
WHERE alive
