-- Question: how often would the gate of a class allow, looked at every six hours for a year?
-- Grain: one row per history: looks, allows. The class has {tasks} tasks of {per_day} trials a day in all, in turn; every other
-- task has the pass rate {p}, the rest {p_other}. {icc} as in simulated.sql; a bad day is one for all tasks.
-- The ends, the weight and the design effect are those of numbers.sql over the gate's own window. Every number comes from hashes
-- of {seed}.
WITH
    (key -> cityHash64(key, {seed:UInt64}) / 18446744073709551616.) AS uniform,
    400 AS last_day,
    trials AS
    (
        SELECT
            history, day, toUInt32(24 * uniform(('hour', history, day, nth))) AS hour, nth % {tasks:UInt32} AS task,
            if(task % 2 = 0, {p:Float64}, {p_other:Float64}) AS rate,
            uniform(('pass', history, day, nth)) < multiIf(
                {icc:Float64} = 0, rate,
                uniform(('day', history, day)) < (1 - rate) / (1 - rate + {icc:Float64} * rate), (1 - {icc:Float64}) * rate,
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
    -- Of each task, all sums up to the end of each six hours.
    summed AS
    (
        SELECT
            history, task, slot, intDiv(slot, 4) AS day,
            sum(n) OVER so_far AS n_all, sum(c) OVER so_far AS c_all
        FROM
        (
            SELECT history, task, slot, sum(n_) AS n, sum(c_) AS c
            FROM
            (
                SELECT history, task, intDiv(day * 24 + hour, 6) AS slot, count() AS n_, countIf(passed) AS c_
                FROM trials
                GROUP BY history, task, slot
                UNION ALL
                SELECT intDiv(number, {tasks:UInt32} * 1600), intDiv(number, 1600) % {tasks:UInt32}, number % 1600, 0, 0
                FROM numbers({histories:UInt32} * {tasks:UInt32} * 1600)
            )
            GROUP BY history, task, slot
        )
        WINDOW so_far AS (PARTITION BY history, task ORDER BY slot ROWS UNBOUNDED PRECEDING)
    ),
    -- Of all tasks: the sums, those of the day so far, and the squares of the days before it.
    whole AS
    (
        SELECT
            *, n_all - lagInFrame(n_all, slot_of_day) OVER in_order AS n_today, c_all - lagInFrame(c_all, slot_of_day) OVER in_order AS c_today
        FROM
        (
            SELECT history, slot, any(day) AS day, slot % 4 + 1 AS slot_of_day, sum(n_all) AS n_all, sum(c_all) AS c_all
            FROM summed
            GROUP BY history, slot
        )
        WINDOW in_order AS (PARTITION BY history ORDER BY slot ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
    ),
    starts AS
    (
        SELECT
            history, day + 1 AS day,
            sum(c_today * c_today / greatest(n_today, 1)) OVER (PARTITION BY history ORDER BY day ROWS UNBOUNDED PRECEDING)
                AS squares_before
        FROM whole
        WHERE slot_of_day = 4
    ),
    looks AS
    (
        SELECT
            history, slot, intDiv(intDiv(slot + 1, 4) - 28, 7) * 7 AS anchor,
            sum(n_) AS n, sum(c_) AS c, countIf(n_ >= {k:UInt32}) AS used,
            sumIf(c_ / n_, n_ >= {k:UInt32}) / used AS mean_rate, used * used / sumIf(1 / n_, n_ >= {k:UInt32}) AS weight,
            sumIf(ifNull(passHatK(n_, c_, {k:UInt32}), 0.), n_ >= {k:UInt32}) / used AS mean_hat
        FROM
        (
            SELECT seen.history AS history, seen.slot AS slot, seen.n_all - anchored.n_all AS n_, seen.c_all - anchored.c_all AS c_
            FROM summed AS seen
            INNER JOIN summed AS anchored
                ON anchored.history = seen.history AND anchored.task = seen.task
                AND anchored.slot = intDiv(intDiv(seen.slot + 1, 4) - 28, 7) * 28 - 1
            WHERE seen.day >= 35
        )
        GROUP BY history, slot
    )
SELECT
    history, count() AS looks, countIf(low >= {min:Float64}) AS allows
FROM
(
    SELECT
        looks.history AS history,
        designEffect(looks.n, looks.c, whole.day - anchor + if(whole.n_today > 0, 1, 0),
            today.squares_before - anchored.squares_before + whole.c_today * whole.c_today / greatest(whole.n_today, 1)) AS deff,
        least(gateLow(weight, weight * mean_rate, {k:UInt32}, deff, {alpha:Float64}), mean_hat) AS low
    FROM looks
    INNER JOIN whole ON whole.history = looks.history AND whole.slot = looks.slot
    INNER JOIN starts AS today ON today.history = looks.history AND today.day = whole.day
    INNER JOIN starts AS anchored ON anchored.history = looks.history AND anchored.day = looks.anchor
)
GROUP BY history
ORDER BY history
