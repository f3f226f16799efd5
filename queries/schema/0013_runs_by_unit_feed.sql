-- Copies the units of each written run.
CREATE MATERIALIZED VIEW IF NOT EXISTS runs_by_unit_feed TO runs_by_unit AS
SELECT project, arrayJoin(units) AS unit, run_id
FROM runs
