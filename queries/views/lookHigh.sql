-- Upper end for pass^k that holds per look (alpha 0.05), NULL for n = 0: csHigh to the k-th power, never below the estimate.
CREATE OR REPLACE FUNCTION lookHigh AS (n, c, k, deff) ->
    if(n <= 0, NULL, greatest(pow(csHigh(n / deff, c / deff, 0.05), k), ifNull(passHatK(n, c, k), 0.)))
