-- What was ever said of the end of this run, by telemetry too, which may be gone?
-- One row per statement.
SELECT result, source, reason, score, time_ns, outcome_id
FROM outcomes FINAL
WHERE project = {project:String} AND run_key = reinterpretAsUInt128(sipHash128({project:String}, {run_id:String}))
ORDER BY time_ns, stored_at, outcome_id
