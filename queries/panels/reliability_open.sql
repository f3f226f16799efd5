-- How many runs are still open, and for how long is the oldest? Not bound to the time range.
-- Open runs count nowhere yet. One that stays open never sent its root span: passhat closes it when idle.
SELECT count() AS open, ifNull(dateDiff('second', minOrNull(started), now64(3)), 0) AS oldest_s
FROM trials
WHERE result = 'pending' AND $__conditionalAll(project IN (${project:singlequote}), $project)
