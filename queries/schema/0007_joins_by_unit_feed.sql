-- Copies each row of joins to its twin: keyed, so a repeated insert changes nothing.
CREATE MATERIALIZED VIEW IF NOT EXISTS joins_by_unit_feed TO joins_by_unit AS
SELECT project, unit, join_key
FROM joins
