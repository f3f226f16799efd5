-- Lower end of the Beta-mixture confidence sequence of a pass rate, n trials of which c passed.
-- Formula: the least p with B(c + 1/2, n - c + 1/2) / B(1/2, 1/2) / (p^c (1 - p)^(n - c)) < 1 / alpha, by 50 bisections of
-- [0, c / n]. Holds at all times at once from a fixed start, and per look over a sliding window.
-- n and c may be fractions (divided by a design effect). NULL for n = 0.
CREATE OR REPLACE FUNCTION csLow AS (n, c, alpha) ->
    if(toFloat64(n) <= 0, NULL,
        arrayFold(
            (acc, i) -> if(
                toFloat64(c) * log((acc.1 + acc.2) / 2) + (toFloat64(n) - toFloat64(c)) * log(1 - (acc.1 + acc.2) / 2) > acc.3,
                (acc.1, (acc.1 + acc.2) / 2, acc.3),
                ((acc.1 + acc.2) / 2, acc.2, acc.3)),
            range(if(toFloat64(c) <= 0, 0, 50)),
            (0., if(toFloat64(n) <= 0, 0., toFloat64(c) / toFloat64(n)),
             lgamma(toFloat64(c) + 0.5) + lgamma(toFloat64(n) - toFloat64(c) + 0.5) - lgamma(toFloat64(n) + 1)
                 - log(pi()) + log(toFloat64(alpha)))).1)
