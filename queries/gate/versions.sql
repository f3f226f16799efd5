-- Question: which versions of which services have trials for this gate, and which was deployed last?
-- Grain: one row per service and version with a trial in [start, end); the version whose first trial is latest comes first.
SELECT service, service_version
FROM
(
    SELECT service, service_version, min(ended) AS first, max(ended) AS last
    FROM run_hours FINAL
    WHERE alive AND result != 'pending' AND service != 'passhat-doctor'
      AND ended < {end:DateTime64(3, 'UTC')} AND hour <= {end:DateTime64(3, 'UTC')}
      AND hour >= {start:DateTime64(3, 'UTC')} - INTERVAL 1 YEAR
      AND (empty({project:Array(String)}) OR project IN {project:Array(String)})
      AND (empty({environment:Array(String)}) OR environment IN {environment:Array(String)})
      AND (empty({service:Array(String)}) OR service IN {service:Array(String)})
      AND (empty({service_version:Array(String)}) OR service_version IN {service_version:Array(String)})
      AND (empty({agent:Array(String)}) OR agent IN {agent:Array(String)})
      AND (empty({model:Array(String)}) OR model IN {model:Array(String)})
      AND (empty({task:Array(String)}) OR task_id IN {task:Array(String)})
      AND (empty({class:Array(String)}) OR task_class IN {class:Array(String)})
      AND (empty({version:Array(String)}) OR task_version IN {version:Array(String)})
    GROUP BY service, service_version
    HAVING last >= {start:DateTime64(3, 'UTC')}
)
ORDER BY service, first DESC, last DESC, service_version DESC
