-- In which trace is the root span of a run of several traces?
-- One row per (project, trace, span) found.
SELECT DISTINCT project, trace_id, span_id
FROM spans
WHERE (project, trace_id) IN {keys:Array(Tuple(String, String))} AND span_id IN {spans:Array(String)}
