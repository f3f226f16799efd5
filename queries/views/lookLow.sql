-- Lower end for pass^k that holds per look (alpha 0.05), NULL for n = 0: csLow to the k-th power, never above the estimate.
CREATE OR REPLACE FUNCTION lookLow AS (n, c, k, deff) ->
    if(n <= 0, NULL, least(pow(csLow(n / deff, c / deff, 0.05), k), ifNull(passHatK(n, c, k), 1.)))
