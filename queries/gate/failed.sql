-- Question: which of the trials that ended in [start, end) failed last, and by which gating checks?
-- Grain: one row per failed run, newest first, at most {limit}.
SELECT run_id, project, arrayFilter((id, gate, status) -> gate AND status = 'fail', check_id, check_gate, check_status) AS checks
FROM runs FINAL
WHERE alive AND result = 'fail'
  AND (project, run_key) IN
  (
      SELECT project, run_key
      FROM run_hours FINAL
      WHERE alive AND result = 'fail' AND basis = {counted_basis:String}
        AND ended >= {start:DateTime64(3, 'UTC')} AND ended < {end:DateTime64(3, 'UTC')}
        AND hour >= toStartOfHour({start:DateTime64(3, 'UTC')}) AND hour <= {end:DateTime64(3, 'UTC')}
        AND (service, service_version) IN {versions:Array(Tuple(String, String))}
        AND (empty({project:Array(String)}) OR project IN {project:Array(String)})
        AND (empty({environment:Array(String)}) OR environment IN {environment:Array(String)})
        AND (empty({agent:Array(String)}) OR agent IN {agent:Array(String)})
        AND (empty({model:Array(String)}) OR model IN {model:Array(String)})
        AND (empty({task:Array(String)}) OR task_id IN {task:Array(String)})
        AND (empty({class:Array(String)}) OR task_class IN {class:Array(String)})
        AND (empty({version:Array(String)}) OR task_version IN {version:Array(String)})
      ORDER BY ended DESC
      LIMIT {limit:UInt32}
  )
ORDER BY ended DESC, run_id
