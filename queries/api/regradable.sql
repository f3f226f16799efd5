-- Question: which closed runs were graded by an earlier set of checks than the one in force?
-- Grain: one row per unit (what is assembled together), the newest first; runs counts its runs of that kind.
-- {check}: only runs on which this check, at {check_version}, has not said anything yet; '' for any.
SELECT project, units[1] AS unit, count() AS runs
FROM runs FINAL
WHERE alive AND NOT open AND epoch < {epoch:UInt32} AND notEmpty(units)
  AND (project, run_key) NOT IN (SELECT project, run_key FROM frozen_runs FINAL WHERE frozen)
  AND ended >= fromUnixTimestamp64Milli({start_ms:Int64}, 'UTC')
  AND ended < fromUnixTimestamp64Milli({end_ms:Int64}, 'UTC')
  AND (empty({project:Array(String)}) OR project IN {project:Array(String)})
  AND (empty({environment:Array(String)}) OR environment IN {environment:Array(String)})
  AND (empty({service:Array(String)}) OR service IN {service:Array(String)})
  AND (empty({service_version:Array(String)}) OR service_version IN {service_version:Array(String)})
  AND (empty({agent:Array(String)}) OR agent IN {agent:Array(String)})
  AND (empty({model:Array(String)}) OR model IN {model:Array(String)})
  AND (empty({task:Array(String)}) OR task_id IN {task:Array(String)})
  AND (empty({class:Array(String)}) OR task_class IN {class:Array(String)})
  AND (empty({version:Array(String)}) OR task_version IN {version:Array(String)})
  AND (empty({basis:Array(String)}) OR basis IN {basis:Array(String)})
  AND ({check:String} = ''
      OR NOT arrayExists((id, of) -> id = {check:String} AND of = {check_version:String}, check_id, check_version))
GROUP BY project, unit
ORDER BY max(ended) DESC, project, unit
LIMIT {limit:UInt32}
