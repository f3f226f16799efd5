-- Upper end of the Beta-mixture confidence sequence of a pass rate: one minus the lower end of the failure rate.
CREATE OR REPLACE FUNCTION csHigh AS (n, c, alpha) -> 1 - csLow(n, toFloat64(n) - toFloat64(c), alpha)
