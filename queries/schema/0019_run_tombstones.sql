-- Runs removed for good: what of theirs is still removed, and what is refused when it comes again.
-- One row per (project, run_id), the greatest step. Ids and hashes only.
-- traces: units (traces, or join keys of logs without one) that held nothing else: all of them goes, now and later.
-- spans ('trace:span') and logs ('unit:content hash'): the run's part of units it shared with other runs.
-- records: how many spans and log records it had: other runs of its units are not to be taken for shrunk.
-- state: requested, hidden (in no view any more), swept (removed once), removed (and swept again, when every collector knew).
CREATE TABLE IF NOT EXISTS run_tombstones
(
    project LowCardinality(String),
    run_id String,
    traces Array(String),
    spans Array(String),
    logs Array(String),
    records UInt32,
    state LowCardinality(String),
    step UInt64,
    requested_ns UInt64,
    at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(step)
ORDER BY (project, run_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
