-- The trial policy and the SLOs, in the store so that every collector and every query agrees.
-- One row per name, newest. value is text; names: errors, incomplete, retries (exclude|fail, exclude|fail, first|all),
-- slos (JSON list of {name, task, class, k, target, min_n, windows: [{long, short, burn}]}, seconds).
CREATE TABLE IF NOT EXISTS policy
(
    name String,
    value String,
    set_at DateTime64(9, 'UTC') DEFAULT now64(9)
)
ENGINE = ReplacingMergeTree(set_at)
ORDER BY name
