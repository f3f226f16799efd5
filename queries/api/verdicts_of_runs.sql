-- Question: what do the checks say of these runs, and what result follows?
-- Grain: one row per run, its current verdicts as arrays, one element a check.
SELECT
    project, run_id, revision, graded_at, result, reason, basis, outcome, trajectory, calls, checks_version,
    check_id, check_kind, check_axis, check_gate, check_severity, check_on_fail, check_version, check_status,
    check_reason, check_fix, check_lines
FROM runs FINAL
WHERE (project, run_key) IN
    (SELECT k.1, reinterpretAsUInt128(sipHash128(k.1, k.2)) FROM (SELECT arrayJoin({keys:Array(Tuple(String, String))}) AS k))
    AND alive
