-- Question: which runs ended in [start, end), newest first, after a position?
-- Grain: one row per run. Keyset pagination by (ended, project, run_id): a run that arrives meanwhile moves no page.
-- An empty list of a filter lets everything through; the condition is constant then and costs nothing.
SELECT
    run_id, project, trial_id, task_id, task_version, task_class, task_source, result, reason, basis,
    outcome, trajectory, calls,
    toUnixTimestamp64Milli(started) AS started_ms, toUnixTimestamp64Milli(ended) AS ended_ms, duration_s,
    tool_calls, turns, input_tokens, output_tokens, cost_usd,
    environment, service, service_version, agent, model, checks_version
FROM trials
WHERE ended >= fromUnixTimestamp64Milli({start_ms:Int64}, 'UTC')
  AND ended < fromUnixTimestamp64Milli({end_ms:Int64}, 'UTC')
  AND (ended, project, run_id)
      < (fromUnixTimestamp64Milli({before_ms:Int64}, 'UTC'), {before_project:String}, {before_run_id:String})
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
  AND startsWith(run_id, {prefix:String})
  AND (empty({result:Array(String)}) OR result IN {result:Array(String)})
ORDER BY ended DESC, project DESC, run_id DESC
LIMIT {limit:UInt32}
