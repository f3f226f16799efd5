-- How much more do results differ from day to day than independent trials would? n and c are divided by it.
-- Formula: max(1, chi^2 / (D - 1)), chi^2 = sum over D days of (c_d - n_d p)^2 / (n_d p (1 - p)), p = c / n;
-- with squares = sum of c_d^2 / n_d that is (squares - c^2 / n) / (p (1 - p)). 1 under five days: unknown then.
CREATE OR REPLACE FUNCTION designEffect AS (n, c, days, squares) ->
    if(days < 5 OR c <= 0 OR c >= n, 1.,
        greatest(1., (squares - toFloat64(c) * c / n) / (toFloat64(c) / n * (1 - toFloat64(c) / n)) / (toFloat64(days) - 1)))
