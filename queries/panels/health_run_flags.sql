-- What was odd about runs? Flags of runs of the range, as assembly and grading set them.
SELECT arrayJoin(arrayConcat(flags, lossy)) AS flag, count() AS runs, max(ended) AS latest, argMax(run_id, ended) AS run
FROM trials
WHERE $__timeFilter_ms(ended)
GROUP BY flag
ORDER BY runs DESC, flag
