-- Question: how did the latest trials of each row of task_reliability go?
-- Grain: one row per project, task_id, task_version, checks_version, basis; results oldest first, at most `recent` of them.
SELECT
    project, task_id, task_version, checks_version, basis,
    arrayMap(trial -> trial.3, arraySort(groupArraySorted({recent:UInt32})((-toUnixTimestamp64Milli(ended), run_id, result))))
        AS newest_first
FROM trials
WHERE ended >= {start:DateTime64(3, 'UTC')} AND ended < {end:DateTime64(3, 'UTC')}
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
GROUP BY project, task_id, task_version, checks_version, basis
