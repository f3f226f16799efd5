-- What became of each run?
-- One row per run that is there now (neither withdrawn nor deleted), open ones as pending. A trial's time is `ended`.
-- The runs `passhat doctor` sends itself (service `passhat-doctor`) are in no view: the table `runs` has them.
CREATE OR REPLACE VIEW trials AS
SELECT
    project, run_id, trial_id, retry_of, task_id, task_version, task_class, task_source, expected,
    environment, service, service_version, agent, model, checks_version, basis,
    result, reason, outcome, trajectory, calls,
    started, ended, duration_s, tool_calls, turns, input_tokens, output_tokens, cost_usd,
    closed_by, subtype, final_text, root_status, root_error, root_error_type, workspace_id, experiment_id,
    trace_ids, span_count, line_count, lossy, flags, attributes, revision, version, epoch, graded_at
FROM runs FINAL
WHERE alive AND service != 'passhat-doctor'
