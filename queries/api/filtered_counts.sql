-- Question: the trials of counts_between, for these filters and policies only.
-- Grain: as counts_between. What the views of rates are read over when a filter or a policy is given: see
-- collector/serve/rates.py. errors, incomplete: '' is the policy in force, else exclude or fail.
-- An empty list of a filter lets everything through; the condition is constant then and costs nothing.
SELECT * REPLACE
(
    multiIf({errors:String} = '' AND {incomplete:String} = '', n,
        pass + fail
        + if(if({errors:String} = '', (SELECT any(value) FROM policy FINAL WHERE name = 'errors'), {errors:String})
            = 'fail', errors, 0)
        + if(if({incomplete:String} = '', (SELECT any(value) FROM policy FINAL WHERE name = 'incomplete'),
            {incomplete:String}) = 'fail', incomplete, 0)) AS n
)
FROM counts_between(start={start:DateTime64(3, 'UTC')}, end={end:DateTime64(3, 'UTC')})
WHERE (empty({project:Array(String)}) OR project IN {project:Array(String)})
  AND (empty({environment:Array(String)}) OR environment IN {environment:Array(String)})
  AND (empty({service:Array(String)}) OR service IN {service:Array(String)})
  AND (empty({service_version:Array(String)}) OR service_version IN {service_version:Array(String)})
  AND (empty({agent:Array(String)}) OR agent IN {agent:Array(String)})
  AND (empty({model:Array(String)}) OR model IN {model:Array(String)})
  AND (empty({task:Array(String)}) OR task_id IN {task:Array(String)})
  AND (empty({class:Array(String)}) OR task_class IN {class:Array(String)})
  AND (empty({version:Array(String)}) OR task_version IN {version:Array(String)})
  AND (empty({basis:Array(String)}) OR basis IN {basis:Array(String)})
