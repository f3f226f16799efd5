-- Question: what did the trials that ended in [start, end) cost, and what of it was spent on failures?
-- Grain: one row per project, task_id, task_version, basis. trials: closed ones of whatever result; priced: those whose cost is
-- known, which all sums of cost are over. wasted_usd: the cost of trials that did not pass. cost_per_success: all cost by
-- passed trials, NULL without one. tool_calls, turns, tokens and seconds are means over trials.
SELECT
    project, task_id, task_version, basis,
    count() AS trials, countIf(result = 'pass') AS passed, countIf(cost_usd IS NOT NULL) AS priced,
    if(priced = 0, NULL, sum(ifNull(cost_usd, 0.))) AS cost,
    if(priced = 0, NULL, cost / priced) AS cost_per_trial,
    if(countIf(result = 'pass' AND cost_usd IS NOT NULL) = 0, NULL,
        cost / countIf(result = 'pass' AND cost_usd IS NOT NULL)) AS cost_per_success,
    if(priced = 0, NULL, sumIf(ifNull(cost_usd, 0.), result != 'pass')) AS wasted_usd,
    avg(tool_calls) AS mean_tool_calls, avg(turns) AS mean_turns,
    avgOrNull(input_tokens) AS mean_input_tokens, avgOrNull(output_tokens) AS mean_output_tokens,
    avg(duration_s) AS mean_seconds
FROM trials
WHERE ended >= {start:DateTime64(3, 'UTC')} AND ended < {end:DateTime64(3, 'UTC')} AND result != 'pending'
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
GROUP BY project, task_id, task_version, basis
ORDER BY project, task_id, task_version, basis
