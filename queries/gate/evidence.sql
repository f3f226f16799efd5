-- Question: what does a gate decide on, all of one moment?
-- Grain: one row: the columns of numbers.sql, newest_ms of newest.sql, and critical: the rows of critical.sql.
-- One statement, because all parts of a statement see one snapshot of a table. Of several, each would see other trials: an
-- allow from the numbers of one moment and the critical failures of another could be right at neither.
SELECT numbers.*, newest.newest_ms AS newest_ms, failures.critical AS critical
FROM gate_numbers AS numbers
CROSS JOIN gate_newest AS newest
CROSS JOIN (SELECT groupArray((run_id, project, checks)) AS critical FROM gate_critical AS runs) AS failures
