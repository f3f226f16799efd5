-- Question: how often would a gate allow, looked at every hour for a year, when the true pass rate is {p}?
-- Grain: one row per history: looks, allows, first_allow (days after the first look, NULL for none), and the same with
-- deff left at 1 (allows_plain). Trials: {per_day} a day at random hours. {icc} = 0: independent. Above: days differ; a share
-- of them has the pass rate (1 - icc) p and the others 1, which gives mean p and intra-day correlation icc exactly.
-- Days are numbered from a Monday; looks begin after five weeks. The ends and the design effect are the gate's own functions
-- over the gate's own window; every number comes from hashes of {seed}, so that a run can be repeated.
WITH
    (key -> cityHash64(key, {seed:UInt64}) / 18446744073709551616.) AS uniform,
    (1 - {p:Float64}) / (1 - {p:Float64} + {icc:Float64} * {p:Float64}) AS bad_days,
    400 AS last_day,
    trials AS
    (
        SELECT
            history, day, toUInt32(24 * uniform(('hour', history, day, nth))) AS hour,
            uniform(('pass', history, day, nth)) < multiIf(
                {icc:Float64} = 0, {p:Float64},
                uniform(('day', history, day)) < bad_days, (1 - {icc:Float64}) * {p:Float64},
                1.) AS passed
        FROM
        (
            SELECT
                intDiv(number, last_day * {per_day:UInt32}) AS history,
                intDiv(number, {per_day:UInt32}) % last_day AS day,
                number % {per_day:UInt32} AS nth
            FROM numbers({histories:UInt32} * 400 * {per_day:UInt32})
        )
    ),
    hours AS
    (
        SELECT history, day, hour, sum(n_) AS n, sum(c_) AS c
        FROM
        (
            SELECT history, day, hour, count() AS n_, countIf(passed) AS c_
            FROM trials
            GROUP BY history, day, hour
            UNION ALL
            SELECT intDiv(number, 24 * 400), intDiv(number, 24) % 400, number % 24, 0, 0
            FROM numbers({histories:UInt32} * 400 * 24)
        )
        GROUP BY history, day, hour
    ),
    -- All sums up to and including an hour, of the history and of its day.
    summed AS
    (
        SELECT
            history, day, hour,
            sum(n) OVER so_far AS n_all, sum(c) OVER so_far AS c_all,
            sum(n) OVER today AS n_today, sum(c) OVER today AS c_today
        FROM hours
        WINDOW
            so_far AS (PARTITION BY history ORDER BY day, hour ROWS UNBOUNDED PRECEDING),
            today AS (PARTITION BY history, day ORDER BY hour ROWS UNBOUNDED PRECEDING)
    ),
    -- The state at the start of each day: sums, and the squares of whole days for the design effect.
    starts AS
    (
        SELECT
            history, day + 1 AS day, n_all AS n_before, c_all AS c_before,
            sum(c_today * c_today / greatest(n_today, 1)) OVER (PARTITION BY history ORDER BY day ROWS UNBOUNDED PRECEDING)
                AS squares_before
        FROM summed
        WHERE hour = 23
    ),
    looks AS
    (
        SELECT
            seen.history AS history, seen.at - 35 * 24 AS look,
            seen.n_all - anchored.n_before AS n, seen.c_all - anchored.c_before AS c,
            seen.day - seen.anchor + if(seen.n_today > 0, 1, 0) AS days,
            today.squares_before - anchored.squares_before + seen.c_today * seen.c_today / greatest(seen.n_today, 1) AS squares
        FROM
        (
            -- The look at the end of this hour: at - 28 days, back to a Monday.
            SELECT *, day * 24 + hour + 1 AS at, intDiv(intDiv(at, 24) - 28, 7) * 7 AS anchor
            FROM summed
            WHERE day >= 35
        ) AS seen
        INNER JOIN starts AS anchored ON anchored.history = seen.history AND anchored.day = seen.anchor
        INNER JOIN starts AS today ON today.history = seen.history AND today.day = seen.day
    )
SELECT
    history, count() AS looks, countIf(low >= {min:Float64}) AS allows, countIf(plain >= {min:Float64}) AS allows_plain,
    minOrNullIf(look, low >= {min:Float64}) / 24 AS first_allow
FROM
(
    SELECT
        *, designEffect(n, c, days, squares) AS deff,
        least(gateLow(n, c, {k:UInt32}, deff, {alpha:Float64}), ifNull(passHatK(n, c, {k:UInt32}), 1.)) AS low,
        least(gateLow(n, c, {k:UInt32}, 1., {alpha:Float64}), ifNull(passHatK(n, c, {k:UInt32}), 1.)) AS plain
    FROM looks
)
GROUP BY history
ORDER BY history
