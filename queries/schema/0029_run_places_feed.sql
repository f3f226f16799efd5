-- Copies the hour of each written run; keyed, so repeated writes change nothing.
CREATE MATERIALIZED VIEW IF NOT EXISTS run_places_feed TO run_places AS
SELECT project, run_key, hour
FROM runs
WHERE alive
