-- How many pairs of windows of all objectives fire now? Zero is good; also zero when no objective is configured.
SELECT countIf(firing) AS firing, count() AS watched FROM slo_burn
