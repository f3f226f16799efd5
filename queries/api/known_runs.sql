-- Question: which of these runs are known?
-- Grain: one row per run.
SELECT project, run_id
FROM runs FINAL
WHERE (project, run_key) IN (
        SELECT p, reinterpretAsUInt128(sipHash128(p, r))
        FROM (SELECT tupleElement(pair, 1) AS p, tupleElement(pair, 2) AS r
              FROM (SELECT arrayJoin({runs:Array(Tuple(String, String))}) AS pair)))
  AND alive
