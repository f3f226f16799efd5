-- How many trials of each cell ended in [start, end), hour by hour? What all rates are made of.
-- One row per hour and cell of the whole grain. Whole hours come from hour_counts, the ragged ends from run rows, so the
-- window is exact to the millisecond and its cost does not grow with traffic.
-- n and c follow the policy: errors and incomplete trials count as failed only if it says so; trials that repeat a failed
-- one count only under `retries: all`. attempted is all but pending. Counts are additive.
CREATE OR REPLACE VIEW counts_between AS
WITH
    -- What DateTime can hold: an absurd bound must not wrap around.
    toDateTime64('1970-01-01 00:00:00', 3, 'UTC') AS first_time,
    toDateTime64('2106-01-01 00:00:00', 3, 'UTC') AS last_time,
    least(greatest({start:DateTime64(3, 'UTC')}, first_time), last_time) AS from_time,
    least(greatest({end:DateTime64(3, 'UTC')}, first_time), last_time) AS to_time,
    toStartOfHour(from_time) AS from_hour,
    toStartOfHour(to_time) AS to_hour,
    from_hour + if(from_time > from_hour, 3600, 0) AS first_whole,
    ifNull((SELECT any(value) FROM policy FINAL WHERE name = 'errors'), '') = 'fail' AS errors_fail,
    ifNull((SELECT any(value) FROM policy FINAL WHERE name = 'incomplete'), '') = 'fail' AS incomplete_fail,
    ifNull((SELECT any(value) FROM policy FINAL WHERE name = 'retries'), '') = 'all' AS retries_count
SELECT
    project, hour, environment, service, service_version, agent, model, task_class, task_id, task_version, checks_version,
    basis, task_source, retry,
    pass + fail + if(errors_fail, error, 0) + if(incomplete_fail, incomplete, 0) AS n,
    pass AS c,
    pass + fail + error + invalid + awaiting_outcome + nothing_judged + evidence + incomplete AS attempted,
    pass, fail, error AS errors, invalid, awaiting_outcome + nothing_judged + evidence AS unknown, incomplete, pending,
    awaiting_outcome, nothing_judged, evidence
FROM
(
    SELECT
        project, hour, environment, service, service_version, agent, model, task_class, task_id, task_version, checks_version,
        basis, task_source, retry,
        pass, fail, error, invalid, awaiting_outcome, nothing_judged, evidence, incomplete, pending
    FROM hour_counts FINAL
    WHERE hour >= first_whole AND hour < to_hour
    UNION ALL
    SELECT
        project, hour, environment, service, service_version, agent, model, task_class, task_id, task_version, checks_version,
        basis, task_source, retry,
        countIf(result = 'pass') AS pass, countIf(result = 'fail') AS fail, countIf(result = 'error') AS error,
        countIf(result = 'invalid') AS invalid,
        countIf(result = 'unknown' AND reason = 'awaiting_outcome') AS awaiting_outcome,
        countIf(result = 'unknown' AND reason = 'nothing_judged') AS nothing_judged,
        countIf(result = 'unknown' AND reason NOT IN ('awaiting_outcome', 'nothing_judged')) AS evidence,
        countIf(result = 'incomplete') AS incomplete, countIf(result = 'pending') AS pending
    FROM run_hours FINAL
    WHERE (hour = from_hour OR hour = to_hour) AND (hour < first_whole OR hour >= to_hour)
        AND alive AND ended >= from_time AND ended < to_time
    GROUP BY ALL
)
WHERE (NOT retry OR retries_count)
    AND attempted + pending > 0
