-- Who received something, and when by the store's clock: what graders tail to learn what is due.
-- One row per batch and unit, written after the spans of the batch. spans = 0 asks for a new judgement (an outcome came).
-- root: a span without a parent was among them. run_end: an explicit end was.
CREATE TABLE IF NOT EXISTS arrivals
(
    stored_at DateTime64(9, 'UTC') DEFAULT now64(9) CODEC(Delta, ZSTD(1)),
    project LowCardinality(String),
    unit String CODEC(ZSTD(1)),
    trace_id String CODEC(ZSTD(1)),
    spans UInt32 CODEC(ZSTD(1)),
    root Bool,
    run_end Bool,
    collector LowCardinality(String)
)
ENGINE = MergeTree
PARTITION BY toDate(stored_at)
ORDER BY stored_at
TTL toDateTime(stored_at) + INTERVAL 8 DAY
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1
