-- What did each named gate answer last, asked for now (not replayed for an earlier moment)?
-- One row per gate and project.
SELECT
    name, project, argMax(decision, decided_at) AS last_decision, argMax(gate_id, decided_at) AS last_id,
    JSONExtract(argMax(answer, decided_at), 'reasons', 'Array(String)') AS reasons
FROM gate_decisions FINAL
WHERE name != '' AND decided_at < at + toIntervalMinute(1) AND decision IN ('allow', 'deny')
GROUP BY name, project
ORDER BY name, project
