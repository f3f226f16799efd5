-- Which files of queries/ this database has run.
-- One row per file and run of it; the newest counts. Views are replaced when their text changes, tables never.
-- Columns: name (path below queries/), checksum (of the text), applied_at, passhat (version that ran it).
CREATE TABLE IF NOT EXISTS schema_migrations
(
    name String,
    checksum String,
    passhat String,
    applied_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(applied_at)
ORDER BY name
