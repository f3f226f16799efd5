-- Runs: the current result of each, with everything people see of it.
-- One row per (project, run_id), newest rank. alive = 0: withdrawn (its spans belong to another run now) or deleted.
-- version = checks epoch << 40 | normaliser << 32 | inputs << 2 | closed << 1 | basis is outcome: what went in, not when
-- it was graded, so a slower grader that read fewer spans cannot win. rank = version, then graded_at: of equals the last
-- written counts, in whatever order parts are merged. revision is 1, 2, 3 … for people.
-- units: the traces (or join keys of trace-less logs) it was assembled from.
-- hour is the hour of ended; prev_hours all others this run was ever in, so that their counts are corrected.
-- closed_ns: the store's clock when the run was first graded closed, 0 before: a root that starts later is another run.
-- as_of_ns: the store's clock when its unit was read: what was stored before is in.
-- check_*: the verdicts of this revision, one element a check. Its lines: trace_lines of equal version.
CREATE TABLE IF NOT EXISTS runs
(
    project LowCardinality(String),
    run_id String CODEC(ZSTD(1)),
    run_key UInt128 MATERIALIZED reinterpretAsUInt128(sipHash128(project, run_id)),
    version UInt64 CODEC(ZSTD(1)),
    rank UInt128 MATERIALIZED bitShiftLeft(toUInt128(version), 64) + toUInt64(toUnixTimestamp64Nano(graded_at)),
    revision UInt32 CODEC(ZSTD(1)),
    alive Bool,
    open Bool,
    task_id LowCardinality(String),
    task_version LowCardinality(String),
    task_class LowCardinality(String),
    task_source LowCardinality(String),
    expected String CODEC(ZSTD(1)),
    trial_id String CODEC(ZSTD(1)),
    retry_of String CODEC(ZSTD(1)),
    workspace_id String CODEC(ZSTD(1)),
    experiment_id LowCardinality(String),
    environment LowCardinality(String),
    service LowCardinality(String),
    service_version LowCardinality(String),
    agent LowCardinality(String),
    model LowCardinality(String),
    checks_version LowCardinality(String),
    epoch UInt32 CODEC(ZSTD(1)),
    basis LowCardinality(String),
    result LowCardinality(String),
    reason LowCardinality(String),
    outcome LowCardinality(String),
    trajectory LowCardinality(String),
    calls LowCardinality(String),
    closed_by LowCardinality(String),
    root_status LowCardinality(String),
    root_error String CODEC(ZSTD(1)),
    root_error_type LowCardinality(String),
    root_span_id String CODEC(ZSTD(1)),
    started_ns UInt64 CODEC(ZSTD(1)),
    ended_ns UInt64 CODEC(ZSTD(1)),
    started DateTime64(3, 'UTC') CODEC(ZSTD(1)),
    ended DateTime64(3, 'UTC') CODEC(ZSTD(1)),
    hour DateTime('UTC') CODEC(ZSTD(1)),
    prev_hours Array(DateTime('UTC')) CODEC(ZSTD(1)),
    duration_s Float64 CODEC(ZSTD(1)),
    turns UInt32 CODEC(ZSTD(1)),
    tool_calls UInt32 CODEC(ZSTD(1)),
    input_tokens Nullable(UInt64) CODEC(ZSTD(1)),
    output_tokens Nullable(UInt64) CODEC(ZSTD(1)),
    cost_usd Nullable(Float64) CODEC(ZSTD(1)),
    final_text String CODEC(ZSTD(1)),
    subtype LowCardinality(String),
    attributes String CODEC(ZSTD(1)),
    trace_ids Array(String) CODEC(ZSTD(1)),
    units Array(String) CODEC(ZSTD(1)),
    span_count UInt32 CODEC(ZSTD(1)),
    line_count UInt32 CODEC(ZSTD(1)),
    lossy Array(LowCardinality(String)),
    flags Array(LowCardinality(String)),
    inputs UInt32 CODEC(ZSTD(1)),
    as_of_ns UInt64 CODEC(ZSTD(1)),
    closed_ns UInt64 CODEC(ZSTD(1)),
    input_digest String CODEC(ZSTD(1)),
    check_id Array(LowCardinality(String)),
    check_kind Array(LowCardinality(String)),
    check_axis Array(LowCardinality(String)),
    check_gate Array(Bool),
    check_severity Array(LowCardinality(String)),
    check_on_fail Array(LowCardinality(String)),
    check_version Array(LowCardinality(String)),
    check_status Array(LowCardinality(String)),
    check_reason Array(String) CODEC(ZSTD(1)),
    check_fix Array(LowCardinality(String)),
    check_lines Array(Array(UInt32)) CODEC(ZSTD(1)),
    first_stored DateTime64(3, 'UTC') CODEC(ZSTD(1)),
    graded_at DateTime64(9, 'UTC') DEFAULT now64(9) CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(rank)
ORDER BY (project, run_key)
SETTINGS index_granularity = 1024
