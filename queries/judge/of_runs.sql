-- What have models answered of these runs?
-- One row per run, check, version of the check and content.
SELECT project, run_id, check_id, check_version, input_digest, status, reason, lines
FROM judgements FINAL
WHERE (project, run_key) IN
    (SELECT k.1, reinterpretAsUInt128(sipHash128(k.1, k.2)) FROM (SELECT arrayJoin({keys:Array(Tuple(String, String))}) AS k))
