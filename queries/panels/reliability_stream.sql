-- Would k different requests in a row all pass? All trials of the range as one sequence, unnamed tasks included.
-- C(c, k) / C(n, k); the interval is widened by the day-to-day spread. This is what users of live traffic meet.
SELECT stream_pass_hat_k, stream_low, stream_high, n
FROM suite_reliability(start = $__fromTime_ms, end = $__toTime_ms, k = ${k})
WHERE whole AND basis = ${basis:singlequote} AND $__conditionalAll(project IN (${project:singlequote}), $project)
ORDER BY n DESC
LIMIT 1
