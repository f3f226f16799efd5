-- How many further trials, all of them passed, lift gateLow of n trials of which c passed to `goal`?
-- Formula: the smallest m for which p = goal^(1/k) lies below the sequence of n + m trials, c + m passed, at alpha / 53:
-- the condition of csLow at that p, by 21 bisections of [0, 2^20]; NULL beyond a million.
CREATE OR REPLACE FUNCTION csNeeded AS (n, c, k, deff, alpha, goal) ->
    nullIf(
        arrayFold(
            (ends, step) -> if(
                toFloat64(c) + intDiv(ends.1 + ends.2, 2) >= ends.3 * (toFloat64(n) + intDiv(ends.1 + ends.2, 2))
                AND (toFloat64(c) + intDiv(ends.1 + ends.2, 2)) / deff * log(ends.3)
                    + (toFloat64(n) - toFloat64(c)) / deff * log(1 - ends.3)
                    <= lgamma((toFloat64(c) + intDiv(ends.1 + ends.2, 2)) / deff + 0.5)
                        + lgamma((toFloat64(n) - toFloat64(c)) / deff + 0.5)
                        - lgamma((toFloat64(n) + intDiv(ends.1 + ends.2, 2)) / deff + 1) - log(pi()) + log(alpha / 53),
                (ends.1, intDiv(ends.1 + ends.2, 2), ends.3),
                if(ends.1 < ends.2, (intDiv(ends.1 + ends.2, 2) + 1, ends.2, ends.3), ends)),
            range(21), (toInt64(0), toInt64(1048576), pow(toFloat64(goal), 1 / k))).2,
        1048576)
