-- What does each check say of each run now?
-- One row per run and check: the verdicts of the run's current revision, so `lines` number the lines shown.
CREATE OR REPLACE VIEW current_verdicts AS
SELECT
    project, run_id, task_id, task_version, task_class, checks_version, ended,
    check_id_ AS check_id, kind, axis, gate, status, reason_ AS reason, lines, severity, on_fail, version_ AS check_version, fix,
    revision, graded_at
FROM
(
    SELECT *
    FROM runs FINAL
    WHERE alive AND service != 'passhat-doctor'
)
ARRAY JOIN
    check_id AS check_id_, check_kind AS kind, check_axis AS axis, check_gate AS gate, check_status AS status,
    check_reason AS reason_, check_lines AS lines, check_severity AS severity, check_on_fail AS on_fail,
    check_version AS version_, check_fix AS fix
