-- Was the same content asked before, of whichever run of the project? An answer, never a failure to get one.
-- At most one row.
SELECT status, reason, lines, model, answered
FROM judgements FINAL
WHERE project = {project:String} AND check_version = {check_version:String} AND input_digest = {digest:String}
    AND status != 'error'
ORDER BY asked_ns DESC
LIMIT 1
