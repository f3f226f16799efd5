-- Takes each written run into task_versions: min and max only, so repeated writes change nothing. An outcome error or
-- invalid says nothing of the agent's end state: alone it does not make a task one whose outcomes are reported.
CREATE MATERIALIZED VIEW IF NOT EXISTS task_versions_feed TO task_versions AS
SELECT project, task_id, task_version, ended AS first_ended, toUInt8(outcome IN ('pass', 'fail')) AS has_outcome
FROM runs
WHERE alive
