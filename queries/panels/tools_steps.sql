-- How many calls does a run take? Runs of the range by number of tool calls, in steps that double.
-- A long tail is agents that wander; compare with the budget checks.
SELECT
    multiIf(bucket = 0, '0', bucket = 1, '1', concat(toString(toUInt32(exp2(bucket - 1))), '–', toString(toUInt32(exp2(bucket)) - 1))) AS calls,
    countIf(result = 'pass') AS passed, countIf(result = 'fail') AS failed, countIf(result NOT IN ('pass', 'fail')) AS other
FROM
(
    SELECT if(tool_calls = 0, 0, 1 + toUInt8(floor(log2(tool_calls)))) AS bucket, result
    FROM trials
    WHERE $__timeFilter_ms(ended)
        AND $__conditionalAll(project IN (${project:singlequote}), $project)
        AND $__conditionalAll(agent IN (${agent:singlequote}), $agent)
)
GROUP BY bucket
ORDER BY bucket
