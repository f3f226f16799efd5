-- How many trials of each cell ended in [start, end)? What all rates are made of.
-- One row per cell of the whole grain and piece of time; at is the start of the piece, which lies within one UTC day.
-- Whole days come from day_counts, the whole hours before and after them from hour_counts, the ragged ends from run rows:
-- exact to the millisecond at a cost that does not grow with traffic.
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
    from_hour + if(from_time > from_hour, 3600, 0) AS first_hour,
    toStartOfDay(first_hour) + if(first_hour > toStartOfDay(first_hour), 86400, 0) AS first_day,
    toStartOfDay(to_hour) AS to_day,
    (SELECT (errors_fail, incomplete_fail, retries_count) FROM policy_in_force) AS policy_now
SELECT
    project, at, environment, service, service_version, agent, model, task_class, task_id, task_version, checks_version,
    basis, task_source, retry,
    pass + fail + if(policy_now.1, error, 0) + if(policy_now.2, incomplete, 0) AS n,
    pass AS c,
    pass + fail + error + invalid + awaiting_outcome + nothing_judged + evidence + incomplete AS attempted,
    pass, fail, error AS errors, invalid, awaiting_outcome + nothing_judged + evidence AS unknown, incomplete, pending,
    awaiting_outcome, nothing_judged, evidence
FROM
(
    SELECT
        project, day AS at, environment, service, service_version, agent, model, task_class, task_id, task_version,
        checks_version, basis, task_source, retry,
        pass, fail, error, invalid, awaiting_outcome, nothing_judged, evidence, incomplete, pending
    FROM day_counts FINAL
    WHERE day >= first_day AND day < to_day
    UNION ALL
    SELECT
        project, hour, environment, service, service_version, agent, model, task_class, task_id, task_version,
        checks_version, basis, task_source, retry,
        pass, fail, error, invalid, awaiting_outcome, nothing_judged, evidence, incomplete, pending
    FROM hour_counts FINAL
    WHERE hour >= first_hour AND hour < to_hour AND (hour < first_day OR hour >= to_day)
    UNION ALL
    SELECT
        project, hour, environment, service, service_version, agent, model, task_class, task_id, task_version,
        checks_version, basis, task_source, retry,
        countIf(result = 'pass'), countIf(result = 'fail'), countIf(result = 'error'), countIf(result = 'invalid'),
        countIf(result = 'unknown' AND reason = 'awaiting_outcome'),
        countIf(result = 'unknown' AND reason = 'nothing_judged'),
        countIf(result = 'unknown' AND reason NOT IN ('awaiting_outcome', 'nothing_judged')),
        countIf(result = 'incomplete'), countIf(result = 'pending')
    FROM run_hours FINAL
    WHERE (hour = from_hour OR hour = to_hour) AND (hour < first_hour OR hour >= to_hour)
        AND alive AND service != 'passhat-doctor' AND ended >= from_time AND ended < to_time
    GROUP BY ALL
)
WHERE (NOT retry OR policy_now.3) AND attempted + pending > 0
