-- Upper end for pass^k that gates decide on: csHigh at alpha / 53 to the k-th power, as gateLow. NULL for n = 0.
CREATE OR REPLACE FUNCTION gateHigh AS (n, c, k, deff, alpha) -> pow(csHigh(n / deff, c / deff, alpha / 53), k)
