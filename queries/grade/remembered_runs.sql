-- What was judged of these runs? Their current rows: run, result and verdicts.
-- One row per run.
SELECT *, toUnixTimestamp64Milli(first_stored) AS first_stored_ms
FROM runs FINAL
WHERE (project, run_key) IN
    (SELECT k.1, reinterpretAsUInt128(sipHash128(k.1, k.2)) FROM (SELECT arrayJoin({keys:Array(Tuple(String, String))}) AS k))
    AND alive
ORDER BY project, run_id
