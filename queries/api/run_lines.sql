-- Question: what happened in one run, line by line?
-- Grain: one row per line of the run's current revision.
SELECT
    n, role, tool, tool_raw, server, actions, input, output, text, message_id, subtype, cost_usd, num_turns, call_id,
    agent, depth, status, error, start_ns, end_ns, input_state, model, input_tokens, output_tokens, dialect, trace_id,
    span_id, flags, attempts
FROM trace_lines FINAL
WHERE project = {project:String}
  AND run_key = reinterpretAsUInt128(sipHash128({project:String}, {run_id:String}))
  AND run_id = {run_id:String}
  AND version = {version:UInt64}
  AND n <= {line_count:UInt32}
  AND role != ''
ORDER BY n
