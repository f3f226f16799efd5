-- What did this run take? Its duration, tool calls, turns, tokens and cost; a dash is what nobody reported.
SELECT duration_s, tool_calls, turns, input_tokens, output_tokens, cost_usd
FROM trials
WHERE run_id = ${run:singlequote}
LIMIT 1
