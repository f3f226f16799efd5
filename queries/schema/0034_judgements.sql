-- Judgements: what the model behind a `judge` check answered of a run, and what asking it cost.
-- One row per (project, run_id, check_id, check_version, input_digest), the newest. input_digest: of all the model was
-- shown; calls = 0: the same was asked of another run before. asked: what the model was asked as, answered: as what it says
-- it answered. asked_ns: the store's clock.
CREATE TABLE IF NOT EXISTS judgements
(
    project LowCardinality(String),
    run_id String CODEC(ZSTD(1)),
    run_key UInt128 MATERIALIZED reinterpretAsUInt128(sipHash128(project, run_id)),
    check_id LowCardinality(String),
    check_version LowCardinality(String),
    input_digest String CODEC(ZSTD(1)),
    status LowCardinality(String),
    reason String CODEC(ZSTD(1)),
    lines Array(UInt32) CODEC(ZSTD(1)),
    model LowCardinality(String),
    answered LowCardinality(String),
    calls UInt32 CODEC(ZSTD(1)),
    input_tokens UInt64 CODEC(ZSTD(1)),
    output_tokens UInt64 CODEC(ZSTD(1)),
    cost_usd Float64 CODEC(ZSTD(1)),
    took_ms UInt32 CODEC(ZSTD(1)),
    asked_ns UInt64 CODEC(ZSTD(1)),
    asked_at DateTime64(9, 'UTC') DEFAULT now64(9) CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(asked_at)
ORDER BY (project, run_key, check_id, check_version, input_digest)
SETTINGS index_granularity = 1024
