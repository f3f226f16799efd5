-- What is sent of graded runs? The current revision of each that is closed; never the doctor's own.
-- One row per run.
SELECT
    project, run_id, revision, checks_version, toUnixTimestamp64Nano(graded_at) AS graded_ns,
    task_id, task_version, task_class, trial_id, experiment_id, result, reason, outcome, basis,
    trace_ids, root_span_id, toUnixTimestamp64Milli(ended) AS ended_ms, toUnixTimestamp(hour) AS hour_s,
    arrayZip(check_id, check_kind, check_axis, check_gate, check_severity, check_version, check_status, check_reason,
        check_fix, check_lines) AS verdicts
FROM runs FINAL
WHERE (project, run_key) IN
    (SELECT k.1, reinterpretAsUInt128(sipHash128(k.1, k.2)) FROM (SELECT arrayJoin({keys:Array(Tuple(String, String))}) AS k))
    AND alive AND NOT open AND service != 'passhat-doctor'
ORDER BY graded_at, project, run_id
