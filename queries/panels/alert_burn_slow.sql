-- Does an objective burn its allowance steadily? 1 for each objective whose longest pair fires: look today.
SELECT slo, toFloat64(max(firing)) AS firing
FROM slo_burn
WHERE window_long > 6 * 3600
GROUP BY slo
ORDER BY slo
