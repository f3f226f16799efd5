-- Question: what was said of the end state of one run, by whom?
-- Grain: one row per statement, oldest first.
SELECT outcome_id AS id, result, source, reason, score, time_ns, from_telemetry
FROM outcomes FINAL
WHERE project = {project:String}
  AND run_key = reinterpretAsUInt128(sipHash128({project:String}, {run_id:String}))
  AND run_id = {run_id:String}
ORDER BY time_ns, stored_at, outcome_id
