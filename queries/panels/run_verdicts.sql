-- What does each check say of it? Failed gates first; lines number the lines below.
SELECT check_id AS check, if(gate, 'gate', 'advice') AS counts_as, status, reason, arrayStringConcat(lines, ', ') AS lines, fix, axis, kind
FROM current_verdicts
WHERE run_id = ${run:singlequote}
ORDER BY status = 'fail' DESC, gate DESC, check
