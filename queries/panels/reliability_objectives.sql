-- Is an objective being missed too fast? One row per objective and pair of windows, up to now.
-- burn = failure rate / (1 - target^(1/k)): 1 uses the allowance up exactly as it accrues. It fires when both windows burn
-- faster than the limit, on enough trials. When it fires, look at the tasks below and at what changed (annotations).
SELECT slo, target, k, n, burn_long, burn_short, burn_limit, window_long AS long_s, window_short AS short_s, if(firing, 'firing', 'ok') AS state
FROM slo_burn
ORDER BY firing DESC, burn_long DESC NULLS LAST, slo, window_long
