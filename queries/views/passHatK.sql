-- pass^k: the chance that k tries, drawn without replacement from n of which c passed, all pass.
-- Formula: C(c, k) / C(n, k) as the product of (c - i) / (n - i), i < k: no factorial, so no overflow at any n.
-- NULL where n < k: neither 0 nor 1 is known then. Numerator and denominator are kept apart while both are exact in a
-- double, so that thresholds such as 0.2 compare as they should.
CREATE OR REPLACE FUNCTION passHatK AS (n, c, k) ->
    if(n < k OR k < 1, NULL,
        if(k * log2(toFloat64(n) + 1) < 53,
            arrayProduct(i -> greatest(toFloat64(c) - i, 0.), range(toUInt64(if(n < k, 0, k))))
                / arrayProduct(i -> toFloat64(n) - i, range(toUInt64(if(n < k, 0, k)))),
            arrayProduct(i -> greatest(toFloat64(c) - i, 0.) / (toFloat64(n) - i), range(toUInt64(if(n < k, 0, k))))))
