-- Which traces make up the run? One value per row, in the order of the run.
SELECT arrayJoin(trace_ids) FROM trials WHERE run_id = ${run:singlequote}
