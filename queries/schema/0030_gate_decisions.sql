-- Every decision a gate gave, as it was given: what was known then may be told otherwise later (late outcomes, regrading).
-- One row per gate_id. at: the moment the decision is about, decided_at: when it was asked; they differ for a replay.
-- question and answer are JSON: the policy asked for, and the whole answer.
CREATE TABLE IF NOT EXISTS gate_decisions
(
    gate_id String,
    name String,
    project String,
    decision LowCardinality(String),
    at DateTime64(3, 'UTC'),
    decided_at DateTime64(3, 'UTC'),
    question String CODEC(ZSTD(1)),
    answer String CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(decided_at)
ORDER BY gate_id
