-- On which lines was this run judged?
-- One row per line of one version of the run.
SELECT *
FROM trace_lines FINAL
WHERE project = {project:String} AND run_key = reinterpretAsUInt128(sipHash128({project:String}, {run_id:String}))
    AND version = {version:UInt64} AND role != ''
ORDER BY n
