-- Runs removed for good: what of theirs is still removed, and what is refused when it comes again.
-- One row per (project, run_id), the greatest step. Ids and hashes only.
-- traces: traces and join keys (of an attempt, of a response) that were of nothing else: all of theirs goes, now and later.
-- spans ('trace:span') and logs ('unit:content hash'): the run's part of units it shared with other runs.
-- beside: other units that were assembled together with its own. records: how many spans and log records it had: the runs
-- of those units are not to be taken for shrunk. closed_ns: when it closed, for later runs under the same id.
-- state: requested, hidden (in no view any more), swept (removed once), removed (and swept again, when every collector knew).
CREATE TABLE IF NOT EXISTS removed_runs
(
    project LowCardinality(String),
    run_id String,
    traces Array(String),
    spans Array(String),
    logs Array(String),
    beside Array(String),
    records UInt32,
    closed_ns UInt64,
    state LowCardinality(String),
    step UInt64,
    requested_ns UInt64,
    at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(step)
ORDER BY (project, run_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
