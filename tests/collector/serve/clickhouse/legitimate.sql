-- Statements that people and their tools send, and that must be answered. One a paragraph.

-- Grafana's data source: connect
SELECT displayName(), version(), revision(), timezone()

-- Grafana's data source: ping
SELECT 1

-- Grafana's data source: may filters be used
SELECT version()

-- Grafana's editor: databases
SHOW DATABASES

-- Grafana's editor: tables
SHOW TABLES

-- Grafana's editor: tables of a database
SHOW TABLES FROM passhat

-- Grafana's editor: columns
DESC TABLE "passhat"."runs"

-- Grafana's editor: columns of all tables
SELECT name, type, table FROM system.columns WHERE database = 'passhat' ORDER BY table, position

-- Grafana's editor: functions
SELECT name FROM system.functions

-- Grafana's editor: values of a column
SELECT DISTINCT task_id FROM passhat.trials LIMIT 1000

-- Grafana's editor: keys of a map
SELECT DISTINCT arrayJoin(mapKeys(attr_string)) AS keys FROM passhat.spans LIMIT 1000

-- Grafana: a statement with a time limit of its own
SELECT count() FROM trials SETTINGS max_execution_time = 10

-- Grafana: time series with the macros expanded
SELECT toStartOfInterval(toDateTime(ended), INTERVAL 60 second) AS time, count() AS n FROM trials WHERE ended >= toDateTime(1700000000) AND ended <= toDateTime(1800000000) GROUP BY time ORDER BY time ASC

-- Grafana: milliseconds
SELECT toStartOfInterval(toDateTime64(ended, 3), INTERVAL 60000 millisecond) AS time, count() AS n FROM trials WHERE ended >= fromUnixTimestamp64Milli(1700000000000) AND ended <= fromUnixTimestamp64Milli(1800000000000) GROUP BY time ORDER BY time

-- Grafana: traces panel
SELECT TraceId AS traceID, SpanId AS spanID, ParentSpanId AS parentSpanID, ServiceName AS serviceName, SpanName AS operationName, Timestamp AS startTime, multiply(Duration, 0.000001) AS duration, arrayMap(key -> map('key', key, 'value', SpanAttributes[key]), mapKeys(SpanAttributes)) AS tags FROM otel_traces WHERE traceID = 'x' LIMIT 1000

-- clickhouse-connect: connect
SELECT version(), timezone()

-- clickhouse-connect: settings
SELECT name, value, readonly FROM system.settings

-- clickhouse-connect: settings, newer
SELECT name, value, readonly AS readonly FROM system.settings LIMIT 10000

-- clickhouse-connect: probe
SELECT 1 AS check

-- our views, by name
SELECT task_id, n, c, pass_hat_k, low, high FROM task_reliability(start = now() - INTERVAL 7 DAY, end = now(), k = 3) ORDER BY pass_hat_k

-- our views, with the database
SELECT * FROM passhat.suite_reliability(start = now() - INTERVAL 7 DAY, end = now(), k = 3)

-- our views, with a text for a time
SELECT * FROM reliability_cells(start = '2026-01-01 00:00:00', end = '2026-02-01 00:00:00') WHERE model = 'm'

-- our functions
SELECT task_id, passHatK(sum(n), sum(c), 3), csLow(sum(n), sum(c), 0.05) FROM reliability_cells(start = now() - INTERVAL 7 DAY, end = now()) GROUP BY task_id, task_version, checks_version, basis

-- over time
SELECT time, pass_hat_k FROM reliability_over_time(start = now() - INTERVAL 2 DAY, end = now(), step_s = 3600, window_s = 86400, k = 3) ORDER BY time

-- objectives
SELECT slo, burn_long, burn_short, firing FROM slo_burn

-- CTEs and a window
WITH calls AS (SELECT run_id, tool, row_number() OVER (PARTITION BY run_id ORDER BY n) AS place FROM tool_calls) SELECT tool, avg(place) FROM calls GROUP BY tool HAVING count() > 1 ORDER BY 2 DESC LIMIT 10

-- recursion
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 10) SELECT sum(n) FROM r

-- INTERSECT, EXCEPT, UNION
SELECT 1 UNION ALL SELECT 2 INTERSECT SELECT 2 EXCEPT SELECT 3

-- joins, USING, ARRAY JOIN
SELECT t.task_id, line FROM trials AS t INNER JOIN current_verdicts AS v USING (run_id) LEFT ARRAY JOIN v.lines AS line WHERE v.status = 'fail'

-- subqueries, IN, EXISTS
SELECT count() FROM trials WHERE run_id IN (SELECT run_id FROM tool_calls WHERE status = 'error') AND EXISTS (SELECT 1)

-- IN a table
SELECT count() FROM tool_calls WHERE tool IN ('Bash', 'Edit')

-- aggregates with combinators
SELECT uniqIf(run_id, result = 'fail'), quantiles(0.5, 0.95)(duration_s), argMaxOrNull(result, ended), sumMap(map('a', 1)), countDistinct(task_id) FROM trials

-- CASE, casts, literals, a ternary
SELECT CASE WHEN result = 'pass' THEN 1 ELSE 0 END, result::String, CAST(n AS Nullable(Float64)), [1, 2], (1, 'a'), map('a', 1)['a'], n > 1 ? 'a' : 'b', NULL, true FROM (SELECT result, 1 AS n FROM trials)

-- dates and intervals
SELECT toStartOfDay(ended), date_trunc('hour', ended), dateDiff('minute', started, ended), ended + INTERVAL 1 DAY, EXTRACT(YEAR FROM ended) FROM trials

-- text
SELECT lower(final_text), substring(final_text, 1, 10), position(final_text, 'x'), replaceAll(final_text, 'a', 'b'), final_text LIKE '%x%', match(final_text, '^a.*'), splitByChar(' ', final_text), format_text FROM (SELECT final_text, 'file(\'x\'); DROP TABLE runs -- INTO OUTFILE' AS format_text FROM trials)

-- JSON
SELECT JSONExtractString(input, 'command'), JSONExtract(input, 'Map(String, String)') FROM trace_lines WHERE isValidJSON(input)

-- all of a table
SELECT * FROM runs LIMIT 5

-- all but
SELECT * EXCEPT (attributes) REPLACE (upper(result) AS result) FROM trials

-- columns by pattern, with an aggregate
SELECT COLUMNS('tokens') APPLY (sum) FROM trials

-- sorting with gaps filled
SELECT toStartOfHour(ended) AS time, count() FROM trials GROUP BY time ORDER BY time WITH FILL STEP 3600

-- grouping sets, totals, limit by
SELECT task_id, result, count() FROM trials GROUP BY GROUPING SETS ((task_id), (result)) ORDER BY ALL LIMIT 1 BY task_id

-- rollup
SELECT task_id, result, count() FROM trials GROUP BY ROLLUP (task_id, result)

-- rows from nothing
SELECT number, sin(number) FROM numbers(10) WHERE number % 2 = 0

-- rows from values
SELECT * FROM values('a Int32, b String', (1, 'x'), (2, 'y'))

-- columns named like functions
SELECT name, database, uuid FROM system.tables WHERE database = 'passhat'

-- an alias that people like
SELECT agent AS user, count() AS path FROM trials GROUP BY user

-- describe a statement
DESCRIBE (SELECT 1 AS a, 'x' AS b)

-- how a view is made
SHOW CREATE VIEW trials

-- does it exist
EXISTS TABLE runs

-- comments and a semicolon
SELECT /* all of them */ count() FROM trials; -- done

-- FORMAT at the end
SELECT 1 AS a FORMAT JSONEachRow

-- FINAL and PREWHERE
SELECT count() FROM runs FINAL PREWHERE project = 'default' WHERE alive

-- a comment of MySQL is a comment
SELECT 1 /*!40101 , file('x') */

-- Grafana's query builder: a table
SELECT "run_id", "task_id", "result" FROM "passhat"."trials" WHERE ( "ended" >= toDateTime(1700000000) AND "ended" <= toDateTime(1800000000) ) AND ( "result" = 'fail' ) ORDER BY "ended" DESC LIMIT 1000

-- Grafana's query builder: a time series
SELECT toStartOfInterval(toDateTime("ended"), INTERVAL 60 second) as "time", "result", count(*) as "n" FROM "passhat"."trials" WHERE ( time >= toDateTime(1700000000) AND time <= toDateTime(1800000000) ) GROUP BY "result", time ORDER BY time ASC LIMIT 1000

-- Grafana's query builder: traces
SELECT TraceId as traceID, ServiceName as serviceName, SpanName as operationName, Timestamp as startTime, multiply(Duration, 0.000001) as duration FROM "passhat"."otel_traces" WHERE ( Timestamp >= fromUnixTimestamp64Milli(1700000000000) AND Timestamp <= fromUnixTimestamp64Milli(1800000000000) ) AND ( ParentSpanId = '' ) AND ( Duration > 0 ) ORDER BY Timestamp DESC, Duration DESC LIMIT 1000

-- Grafana's query builder: one trace, by a CTE
WITH '00000000000000000000000000000001' as trace_id SELECT "TraceId" as traceID, "SpanId" as spanID, "ParentSpanId" as parentSpanID, "ServiceName" as serviceName, "SpanName" as operationName, multiply(toUnixTimestamp64Nano("Timestamp"), 0.000001) as startTime, multiply("Duration", 0.000001) as duration, arrayMap(key -> map('key', key, 'value', "SpanAttributes"[key]), mapKeys("SpanAttributes")) as tags, arrayMap(key -> map('key', key, 'value', "ResourceAttributes"[key]), mapKeys("ResourceAttributes")) as serviceTags, if("StatusCode" IN ('Error', 'STATUS_CODE_ERROR'), 2, 0) as statusCode FROM "passhat"."otel_traces" WHERE traceID = trace_id LIMIT 1000

-- Grafana's macro for columns
SELECT t, groupArray((a, c)) AS groupArr FROM ( SELECT (intDiv(toUInt32(toDateTime(time)), 60) * 60) * 1000 AS t, tool AS a, count() AS c FROM tool_calls WHERE time >= toDateTime(1700000000) AND time <= toDateTime(1800000000) GROUP BY t, a ORDER BY t, a ) GROUP BY t ORDER BY t

-- Grafana's macro for changes a second
SELECT t, if(n < lagInFrame(n, 1, n) OVER (ORDER BY t ASC), nan, n - lagInFrame(n, 1, n) OVER (ORDER BY t ASC)) / 60 AS n_rate FROM ( SELECT (intDiv(toUInt32(toDateTime(time)), 60) * 60) * 1000 AS t, max(duration_ms) AS n FROM tool_calls GROUP BY t ORDER BY t ) SETTINGS max_execution_time = 60

-- Grafana's macro for fewer points
SELECT (arrayJoin(lttb(100)(toUnixTimestamp(ended), duration_s)) AS point).1 AS time, point.2 AS value FROM trials

-- Grafana's editor: what is there of a database
SELECT name FROM system.tables WHERE database = 'passhat' AND name LIKE 'otel%'

-- Grafana's editor: columns of one table
SELECT name, type, comment FROM system.columns WHERE database = 'passhat' AND table = 'trials'

-- Grafana's editor: aggregates
SELECT name, is_aggregate FROM system.functions WHERE is_aggregate = 1

-- Grafana Explore: services and their operations
SELECT DISTINCT ServiceName, SpanName FROM otel_traces WHERE ServiceName != '' ORDER BY ServiceName, SpanName LIMIT 1000

-- Grafana Explore: keys of attributes
SELECT DISTINCT arrayJoin(mapKeys(SpanAttributes)) AS keys FROM "passhat"."otel_traces" LIMIT 1000

-- clickhouse-connect: columns of a table
DESCRIBE TABLE `passhat`.`runs`

-- clickhouse-connect: settings with all it knows of them
SELECT name, value, changed, description, type, readonly FROM system.settings

-- clickhouse-connect: columns without rows
SELECT * FROM (SELECT run_id, result, ended FROM trials) LIMIT 0 FORMAT Native

-- SQLAlchemy: databases
SELECT name FROM system.databases WHERE name NOT IN ('system', 'INFORMATION_SCHEMA')

-- SQLAlchemy: tables of a database
SHOW TABLES FROM `passhat`

-- SQLAlchemy: is there a table
EXISTS TABLE `passhat`.`runs`

-- SQLAlchemy: the engine of a table
SELECT engine, name FROM system.tables WHERE database = 'passhat' AND name = 'runs'

-- Superset: how many rows
SELECT COUNT(*) AS `count` FROM (SELECT `task_id`, `result` FROM `passhat`.`trials` WHERE `ended` >= toDateTime64('2026-01-01 00:00:00.000', 3)) AS `virtual_table` LIMIT 50000

-- Superset: a bucket of time
SELECT toStartOfHour(toDateTime(`ended`)) AS `__timestamp`, COUNT(*) AS `n` FROM `passhat`.`trials` GROUP BY toStartOfHour(toDateTime(`ended`)) ORDER BY `n` DESC LIMIT 10000

-- Metabase: a first look
SELECT `passhat`.`trials`.`run_id` AS `run_id`, `passhat`.`trials`.`result` AS `result` FROM `passhat`.`trials` LIMIT 2000
