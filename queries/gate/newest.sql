-- Question: when did the newest counted trial of a gate end?
-- Grain: one row; NULL where there is none in [start, end). A trial counts as in numbers.sql, whatever its version.
SELECT maxOrNull(toUnixTimestamp64Milli(ended)) AS newest_ms
FROM run_hours FINAL
WHERE alive AND result IN ('pass', 'fail') AND basis = {counted_basis:String}
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
