-- The same pairs as joins, found by unit.
-- One row per (project, unit, join_key).
CREATE TABLE IF NOT EXISTS joins_by_unit
(
    project LowCardinality(String),
    unit String CODEC(ZSTD(1)),
    join_key String CODEC(ZSTD(1)),
    stored_at DateTime64(3, 'UTC') DEFAULT now64(3) CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree
ORDER BY (project, unit, join_key)
SETTINGS index_granularity = 512, fsync_after_insert = 1, fsync_part_directory = 1
