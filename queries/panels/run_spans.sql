-- The spans of one trace of the run, as Grafana's trace panel wants them. Times in milliseconds with all digits below.
SELECT
    TraceId AS traceID, SpanId AS spanID, ParentSpanId AS parentSpanID, ServiceName AS serviceName, SpanName AS operationName,
    toUnixTimestamp64Nano(Timestamp) / 1e6 AS startTime, Duration / 1e6 AS duration,
    arrayMap(key -> map('key', key, 'value', SpanAttributes[key]), mapKeys(SpanAttributes)) AS tags,
    arrayMap(key -> map('key', key, 'value', ResourceAttributes[key]), mapKeys(ResourceAttributes)) AS serviceTags,
    if(StatusCode = 'Error', 2, if(StatusCode = 'Ok', 1, 0)) AS statusCode
FROM otel_traces
WHERE TraceId = ${trace:singlequote}
ORDER BY Timestamp, SpanId
LIMIT 10000
