-- The stored spans in the columns of the OpenTelemetry ClickHouse exporter, for dashboards and queries written for it.
-- One row per span. Attribute values are text as there; lists and maps are OTLP/JSON.
CREATE OR REPLACE VIEW otel_traces AS
WITH
    (json -> mapFromArrays(
        arrayMap(a -> JSONExtractString(a, 'key'), JSONExtractArrayRaw(json)),
        arrayMap(a -> attributeText(JSONExtractRaw(a, 'value')), JSONExtractArrayRaw(json)))) AS attributes_of
SELECT
    start AS Timestamp,
    trace_id AS TraceId,
    span_id AS SpanId,
    parent_span_id AS ParentSpanId,
    trace_state AS TraceState,
    name AS SpanName,
    transform(kind, [1, 2, 3, 4, 5], ['Internal', 'Server', 'Client', 'Producer', 'Consumer'], 'Unspecified') AS SpanKind,
    service AS ServiceName,
    attributes_of(JSONExtractRaw(resource, 'attributes')) AS ResourceAttributes,
    JSONExtractString(scope, 'name') AS ScopeName,
    JSONExtractString(scope, 'version') AS ScopeVersion,
    mapConcat(
        attr_string,
        mapApply((k, v) -> (k, toString(v)), attr_int),
        mapApply((k, v) -> (k, toString(v)), attr_double),
        mapApply((k, v) -> (k, toString(v)), attr_bool),
        mapApply((k, v) -> (k, attributeText(v)), attr_other)) AS SpanAttributes,
    duration_ns AS Duration,
    transform(status_code, [1, 2], ['Ok', 'Error'], 'Unset') AS StatusCode,
    status_message AS StatusMessage,
    arrayMap(e -> fromUnixTimestamp64Nano(toInt64OrZero(JSONExtractString(e, 'timeUnixNano')), 'UTC'), events_)
        AS `Events.Timestamp`,
    arrayMap(e -> JSONExtractString(e, 'name'), events_) AS `Events.Name`,
    arrayMap(e -> attributes_of(JSONExtractRaw(e, 'attributes')), events_) AS `Events.Attributes`,
    arrayMap(l -> JSONExtractString(l, 'traceId'), links_) AS `Links.TraceId`,
    arrayMap(l -> JSONExtractString(l, 'spanId'), links_) AS `Links.SpanId`,
    arrayMap(l -> JSONExtractString(l, 'traceState'), links_) AS `Links.TraceState`,
    arrayMap(l -> attributes_of(JSONExtractRaw(l, 'attributes')), links_) AS `Links.Attributes`,
    project AS Project
FROM
(
    SELECT *, JSONExtractArrayRaw(events) AS events_, JSONExtractArrayRaw(links) AS links_
    FROM spans FINAL
    WHERE service != 'passhat-doctor'
        AND (project, trace_id) NOT IN (SELECT project, arrayJoin(traces) FROM removed_runs FINAL)
        AND (project, trace_id, span_id) NOT IN
        (
            SELECT project, substring(span, 1, 32), substring(span, 34)
            FROM (SELECT project, arrayJoin(spans) AS span FROM removed_runs FINAL)
        )
)
