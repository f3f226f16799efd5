-- Question: what is known of one run?
-- Grain: one row per project that has a run of this id (ids are unique in a project only).
-- version and line_count select its current lines; verdicts are those of the same revision.
SELECT
    project, run_id, task_id, task_version, task_class, task_source, expected, trial_id, retry_of, workspace_id,
    experiment_id, environment, service, service_version, agent, model, checks_version, basis,
    result, reason, outcome, trajectory, calls, closed_by, root_status, root_error, root_error_type,
    toUnixTimestamp64Milli(started) AS started_ms, toUnixTimestamp64Milli(ended) AS ended_ms, duration_s, turns, tool_calls, input_tokens, output_tokens, cost_usd, final_text, subtype,
    trace_ids, span_count, lossy, flags, attributes, revision, graded_at, version, line_count,
    check_id, check_kind, check_axis, check_gate, check_severity, check_on_fail, check_version, check_status,
    check_reason, check_fix, check_lines
FROM runs FINAL
WHERE (empty({project:Array(String)}) OR project IN {project:Array(String)})
  AND run_key = reinterpretAsUInt128(sipHash128(project, {run_id:String}))
  AND run_id = {run_id:String}
  AND alive
ORDER BY project
LIMIT 20
