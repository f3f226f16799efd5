-- Every hour a run was ever put in, by whichever grader: what its current row must have left.
-- One row per (project, run, hour); never merged away, unlike the rows of runs that lost. Fed from runs by run_places_feed.
CREATE TABLE IF NOT EXISTS run_places
(
    project LowCardinality(String),
    run_key UInt128,
    hour DateTime('UTC')
)
ENGINE = ReplacingMergeTree
ORDER BY (project, run_key, hour)
SETTINGS index_granularity = 1024
