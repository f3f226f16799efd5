-- Which of these runs are frozen?
-- One row per frozen run.
SELECT project, run_id
FROM frozen_runs FINAL
WHERE frozen AND (project, run_key) IN
    (SELECT k.1, reinterpretAsUInt128(sipHash128(k.1, k.2)) FROM (SELECT arrayJoin({keys:Array(Tuple(String, String))}) AS k))
