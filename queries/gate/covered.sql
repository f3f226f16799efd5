-- Question: how often does an interval per look miss the truth, looked at every hour of {days} days?
-- Grain: one row per history: looks; missed and missed_mean, the shares of looks whose interval holds neither the rate of that
-- hour nor the mean rate of its window; first_miss, first_miss_mean (days, NULL for none); width and rate, means over looks.
-- plain_*: the same with deff left at 1.
-- Trials: {per_day} a day at random hours; the pass rate goes from {p} to {p_end} in a straight line. {icc} as in simulated.sql.
-- The window is the last {window_h} hours: with more than there are, everything since a fixed start. An outcome is known
-- {late_pass_h} hours after a trial that passed, {late_fail_h} after one that failed. Ends and design effect are the views' own
-- functions; the design effect is that of the days that ended in the window.
WITH
    (key -> cityHash64(key, {seed:UInt64}) / 18446744073709551616.) AS uniform,
    (at -> {p:Float64} + ({p_end:Float64} - {p:Float64}) * at / (24 * {days:UInt32})) AS rate_at,
    trials AS
    (
        SELECT
            history, day * 24 + toUInt32(24 * uniform(('hour', history, day, nth))) AS at,
            uniform(('pass', history, day, nth)) < multiIf(
                {icc:Float64} = 0, rate_at(at),
                uniform(('day', history, day)) < (1 - rate_at(at)) / (1 - rate_at(at) + {icc:Float64} * rate_at(at)),
                (1 - {icc:Float64}) * rate_at(at),
                1.) AS passed
        FROM
        (
            SELECT
                intDiv(number, {days:UInt32} * {per_day:UInt32}) AS history,
                intDiv(number, {per_day:UInt32}) % {days:UInt32} AS day, number % {per_day:UInt32} AS nth
            FROM numbers(toUInt64({histories:UInt32}) * {days:UInt32} * {per_day:UInt32})
        )
    ),
    hours AS
    (
        SELECT history, at, intDiv(at, 24) AS day, sum(passed_) AS c, sum(failed_) AS f
        FROM
        (
            SELECT history, at, countIf(passed) AS passed_, countIf(NOT passed) AS failed_
            FROM trials
            GROUP BY history, at
            UNION ALL
            SELECT intDiv(number, 24 * {days:UInt32}), number % (24 * {days:UInt32}), 0, 0
            FROM numbers(toUInt64({histories:UInt32}) * 24 * {days:UInt32})
        )
        GROUP BY history, at
    ),
    summed AS
    (
        SELECT
            history, at,
            sum(c) OVER so_far AS c_all, sum(f) OVER so_far AS f_all,
            sum(if(at % 24 = 23, c_day, 0)) OVER so_far AS c_days, sum(if(at % 24 = 23, n_day, 0)) OVER so_far AS n_days,
            sum(if(at % 24 = 23, c_day * c_day / greatest(n_day, 1), 0.)) OVER so_far AS squares_all
        FROM (SELECT *, sum(c) OVER (PARTITION BY history, day) AS c_day, sum(c + f) OVER (PARTITION BY history, day) AS n_day FROM hours)
        WINDOW so_far AS (PARTITION BY history ORDER BY at ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
    ),
    looks AS
    (
        SELECT
            history, at + 1 AS look,
            greatest(lagInFrame(c_all, {late_pass_h:UInt32}) OVER so_far - lagInFrame(c_all, {window_h:UInt32}) OVER so_far, 0) AS c,
            c + greatest(lagInFrame(f_all, {late_fail_h:UInt32}) OVER so_far - lagInFrame(f_all, {window_h:UInt32}) OVER so_far, 0) AS n,
            designEffect(
                n_days - lagInFrame(n_days, {window_h:UInt32}) OVER so_far, c_days - lagInFrame(c_days, {window_h:UInt32}) OVER so_far,
                intDiv(least(look, {window_h:UInt32}), 24), squares_all - lagInFrame(squares_all, {window_h:UInt32}) OVER so_far) AS deff
        FROM summed
        WINDOW so_far AS (PARTITION BY history ORDER BY at ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
    )
SELECT
    history, count() AS looks, avg(off) AS missed, avg(off_mean) AS missed_mean,
    minOrNullIf(look, off) / 24 AS first_miss, minOrNullIf(look, off_mean) / 24 AS first_miss_mean,
    avg(plain_off) AS plain_missed, minOrNullIf(look, plain_off) / 24 AS plain_first_miss,
    avg(high - low) AS width, avg(c / n) AS rate
FROM
(
    SELECT
        *, pow(rate_at(look), {k:UInt32}) AS truth, pow(rate_at(look - least(look, {window_h:UInt32}) / 2), {k:UInt32}) AS mean_truth,
        lookLow(n, c, {k:UInt32}, deff) AS low, lookHigh(n, c, {k:UInt32}, deff) AS high,
        low > truth OR high < truth AS off, low > mean_truth OR high < mean_truth AS off_mean,
        lookLow(n, c, {k:UInt32}, 1.) > truth OR lookHigh(n, c, {k:UInt32}, 1.) < truth AS plain_off
    FROM looks
    WHERE n > 0
)
GROUP BY history
ORDER BY history
