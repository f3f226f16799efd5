-- Collectors that share this store, by their last sign of life.
-- One row per collector.
CREATE TABLE IF NOT EXISTS collectors
(
    collector String,
    host String,
    passhat String,
    checks_digest String,
    seen_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(seen_at)
ORDER BY collector
