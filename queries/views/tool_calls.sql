-- Which calls did agents make, and how did they end?
-- One row per logical call of a run that is there now: its assistant line. actions: the kinds of action it was mapped to.
-- duration_ms is NULL where only messages tell of the call; time is the run's start where the call's own cannot be.
CREATE OR REPLACE VIEW tool_calls AS
SELECT
    project, run_id, n, tool, tool_raw, server, actions, status, error,
    if(end_ns > start_ns, (end_ns - start_ns) / 1e6, NULL) AS duration_ms,
    fromUnixTimestamp64Milli(toInt64(least(intDiv(start_ns, 1000000), 4102444800000)), 'UTC') AS time,
    agent, depth, task_id, task_version, call_id, input, input_state, attempts, dialect, run_ended, trace_id, span_id
FROM trace_lines FINAL
WHERE role = 'assistant' AND tool != ''
    AND (project, run_key, version) IN
        (SELECT project, run_key, version FROM runs FINAL WHERE alive AND service != 'passhat-doctor')
