-- Does an objective burn its allowance so fast that somebody should look now? 1 for each objective whose shortest pair fires.
SELECT slo, toFloat64(max(firing)) AS firing
FROM slo_burn
WHERE window_long <= 6 * 3600
GROUP BY slo
ORDER BY slo
