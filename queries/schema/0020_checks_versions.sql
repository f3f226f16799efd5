-- Registered sets of checks; the greatest epoch is in force.
-- One row per digest. definitions: the checks as configured (JSON).
CREATE TABLE IF NOT EXISTS checks_versions
(
    epoch UInt32,
    digest String,
    definitions String CODEC(ZSTD(1)),
    registered_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(registered_at)
ORDER BY epoch
