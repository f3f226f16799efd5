-- Question: which runs that ended in [start, end) fail a check of severity critical now?
-- Grain: one row per run, newest first, at most {limit}. Looked for in all revisions (few columns), then in the current ones.
SELECT run_id, project, arrayFilter((id, severity, status) -> severity = 'critical' AND status = 'fail',
    check_id, check_severity, check_status) AS checks
FROM runs FINAL
WHERE alive AND notEmpty(checks)
  AND (project, run_key) IN
  (
      SELECT project, run_key
      FROM runs
      WHERE ended >= {start:DateTime64(3, 'UTC')} AND ended < {end:DateTime64(3, 'UTC')}
        AND (service, service_version) IN {versions:Array(Tuple(String, String))}
        AND arrayExists((severity, status) -> severity = 'critical' AND status = 'fail', check_severity, check_status)
  )
  AND ended >= {start:DateTime64(3, 'UTC')} AND ended < {end:DateTime64(3, 'UTC')}
  AND (service, service_version) IN {versions:Array(Tuple(String, String))}
  AND (empty({project:Array(String)}) OR project IN {project:Array(String)})
  AND (empty({environment:Array(String)}) OR environment IN {environment:Array(String)})
  AND (empty({agent:Array(String)}) OR agent IN {agent:Array(String)})
  AND (empty({model:Array(String)}) OR model IN {model:Array(String)})
  AND (empty({task:Array(String)}) OR task_id IN {task:Array(String)})
  AND (empty({class:Array(String)}) OR task_class IN {class:Array(String)})
  AND (empty({version:Array(String)}) OR task_version IN {version:Array(String)})
ORDER BY ended DESC, run_id
LIMIT {limit:UInt32}
