-- How far a replay of the words in force over what is stored has come (`passhat regrade --renormalise`).
-- One row per generation, the newest counts. signal, project, unit: everything up to there is done, spans before logs.
-- time_ns: within the logs of no unit, of which there may be any number; 0 else.
CREATE TABLE IF NOT EXISTS replays
(
    generation UInt32,
    signal LowCardinality(String),
    project String,
    unit String,
    time_ns UInt64,
    seen UInt64,
    changed UInt64,
    finished Bool,
    step UInt64,
    at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(step)
ORDER BY generation
SETTINGS fsync_after_insert = 1
