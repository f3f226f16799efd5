-- Lower end for pass^k that gates decide on: csLow at alpha / 53 to the k-th power, n and c divided by the design effect.
-- Gates read sequences that start on Mondays (UTC): of a year there are 53, so that all of them hold together at alpha.
-- NULL for n = 0.
CREATE OR REPLACE FUNCTION gateLow AS (n, c, k, deff, alpha) -> pow(csLow(n / deff, c / deff, alpha / 53), k)
