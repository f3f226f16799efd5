-- Removes the trace lines of revisions that are no longer current: no view shows them, and every revision writes all lines.
-- Those of the last hour stay: their run's row may not be written yet. Verdicts keep their whole history.
DELETE FROM trace_lines
WHERE written_at < now64(9) - toIntervalSecond({older_s:UInt32})
    AND (project, run_key, version) NOT IN (SELECT project, run_key, version FROM runs FINAL WHERE alive)
