-- Which units carry a join key (a run id over several traces, a conversation): found by key.
-- One row per (project, join_key, unit). The unit of assembly is the set connected through these keys.
CREATE TABLE IF NOT EXISTS joins
(
    project LowCardinality(String),
    join_key String CODEC(ZSTD(1)),
    unit String CODEC(ZSTD(1)),
    stored_at DateTime64(3, 'UTC') DEFAULT now64(3) CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree
ORDER BY (project, join_key, unit)
SETTINGS index_granularity = 512, fsync_after_insert = 1, fsync_part_directory = 1
