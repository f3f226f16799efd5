-- What has asking models cost in the last hour and in the last day, by every collector of this store?
-- One row.
SELECT
    sumIf(calls, asked_ns >= {hour_ns:UInt64}) AS hour_calls,
    sumIf(input_tokens + output_tokens, asked_ns >= {hour_ns:UInt64}) AS hour_tokens,
    sumIf(cost_usd, asked_ns >= {hour_ns:UInt64}) AS hour_cost,
    sum(calls) AS day_calls,
    sum(input_tokens + output_tokens) AS day_tokens,
    sum(cost_usd) AS day_cost
FROM judgements FINAL
WHERE asked_ns >= {day_ns:UInt64}
