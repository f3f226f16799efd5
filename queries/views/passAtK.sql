-- pass@k: the chance that of k tries, drawn without replacement from n of which c passed, at least one passes.
-- Formula: 1 - C(n - c, k) / C(n, k). NULL where n < k.
CREATE OR REPLACE FUNCTION passAtK AS (n, c, k) -> 1 - passHatK(n, toFloat64(n) - toFloat64(c), k)
