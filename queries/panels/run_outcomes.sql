-- What was reported of its end state? All reports, the newest first; human beats environment beats harness beats check beats
-- judge.
SELECT fromUnixTimestamp64Nano(toInt64(time_ns), 'UTC') AS time, source, result, reason, score
FROM outcomes FINAL
WHERE run_id = ${run:singlequote}
ORDER BY time DESC, source
LIMIT 100
