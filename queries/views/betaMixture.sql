-- How likely are c passed of n trials under no pass rate in particular: the logarithm, the rate spread as Beta(1/2, 1/2).
-- Formula: log(B(c + 1/2, n - c + 1/2) / B(1/2, 1/2)). What csLow is made of. n and c may be fractions.
CREATE OR REPLACE FUNCTION betaMixture AS (n, c) ->
    lgamma(toFloat64(c) + 0.5) + lgamma(toFloat64(n) - toFloat64(c) + 0.5) - lgamma(toFloat64(n) + 1) - log(pi())
