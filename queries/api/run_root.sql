-- Question: where does a run begin: in which traces, at which span?
-- Grain: one row; root_span_id is '' while no root has come.
SELECT trace_ids, root_span_id
FROM runs FINAL
WHERE project = {project:String}
  AND run_key = reinterpretAsUInt128(sipHash128({project:String}, {run_id:String}))
  AND run_id = {run_id:String}
  AND alive
