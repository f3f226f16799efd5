-- Statements that must be refused before anything of them runs. One a paragraph; add to it, never take away.
-- {secret} is a file with a secret, {url} an address that notes who asks, {out} a path where nothing may appear.

-- read a file by a function
SELECT file('{secret}')

-- the same, quoted
SELECT `file`('{secret}')

-- the same, in double quotes
SELECT "file"('{secret}')

-- comments inside
SELECT file/**/('{secret}')

-- line comments and newlines
SELECT -- harmless
file
(
'{secret}')

-- function by name in a higher-order function
SELECT arrayMap(file, ['{secret}'])

-- the same in a lambda
SELECT arrayMap(x -> file(x), ['{secret}'])

-- column transformer, by name
SELECT * APPLY(file) FROM (SELECT '{secret}')

-- column transformer without parentheses
SELECT * APPLY file FROM (SELECT '{secret}')

-- column transformer with a lambda
SELECT * APPLY(x -> file(x)) FROM (SELECT '{secret}')

-- qualified column transformer
SELECT t.* APPLY(file) FROM (SELECT '{secret}' AS a) AS t

-- columns matcher with a transformer
SELECT COLUMNS('.*') APPLY(file) FROM (SELECT '{secret}')

-- replaced column
SELECT * REPLACE(file(a) AS a) FROM (SELECT '{secret}' AS a)

-- in WHERE, one bit at a time
SELECT 1 WHERE file('{secret}') LIKE 'x%'

-- in a CTE
WITH f AS (SELECT file('{secret}') AS x) SELECT x FROM f

-- as a CTE expression
WITH file('{secret}') AS x SELECT x

-- in a nested subquery
SELECT * FROM (SELECT * FROM (SELECT (SELECT file('{secret}'))))

-- in ORDER BY
SELECT number FROM numbers(2) ORDER BY file('{secret}')

-- in LIMIT
SELECT number FROM numbers(2) LIMIT length(file('{secret}'))

-- in GROUP BY and HAVING
SELECT 1 GROUP BY 1 HAVING file('{secret}') != ''

-- in a window
SELECT sum(number) OVER (PARTITION BY file('{secret}')) FROM numbers(2)

-- in a named window
SELECT sum(number) OVER w FROM numbers(2) WINDOW w AS (ORDER BY file('{secret}'))

-- in WITH FILL
SELECT number FROM numbers(2) ORDER BY number WITH FILL FROM 0 TO length(file('{secret}'))

-- in INTERPOLATE
SELECT number AS n, '' AS a FROM numbers(2) ORDER BY n WITH FILL INTERPOLATE (a AS file('{secret}'))

-- in a join condition
SELECT 1 FROM numbers(1) AS a JOIN numbers(1) AS b ON a.number = b.number AND file('{secret}') != ''

-- in ARRAY JOIN
SELECT x FROM numbers(1) ARRAY JOIN [file('{secret}')] AS x

-- in arguments of one of our views
SELECT * FROM task_reliability(start = now(), end = now(), k = length(file('{secret}')))

-- as an aggregate's argument
SELECT max(file('{secret}'))

-- in FILTER
SELECT count() FILTER (WHERE file('{secret}') != '')

-- second part of a UNION
SELECT 'a' UNION ALL SELECT file('{secret}')

-- INTERSECT
SELECT 'a' INTERSECT SELECT file('{secret}')

-- QUALIFY
SELECT number FROM numbers(1) QUALIFY file('{secret}') != ''

-- in SHOW TABLES
SHOW TABLES WHERE file('{secret}') != ''

-- in SHOW COLUMNS
SHOW COLUMNS FROM runs WHERE file('{secret}') != ''

-- DESCRIBE of a subquery
DESCRIBE TABLE (SELECT file('{secret}'))

-- table function file
SELECT * FROM file('{secret}', 'LineAsString')

-- table function file, quoted
SELECT * FROM `file`('{secret}', 'LineAsString')

-- the default database reads files by name
SELECT * FROM default.`{secret}`

-- the same after IN
SELECT 'x' IN default.`{secret}`

-- DESCRIBE of a file
DESCRIBE TABLE file('{secret}')

-- address by table function
SELECT * FROM url('{url}', 'LineAsString')

-- DESCRIBE asks the address
DESCRIBE TABLE url('{url}', 'CSV')

-- DESCRIBE, short
DESC url('{url}')

-- EXISTS over an address
SELECT EXISTS (SELECT * FROM url('{url}', 'LineAsString'))

-- in IN
SELECT 1 IN (SELECT * FROM url('{url}', 'LineAsString'))

-- table function after IN
SELECT 1 IN url('{url}', 'LineAsString')

-- hidden in view()
SELECT * FROM view(SELECT * FROM url('{url}', 'LineAsString'))

-- hidden in the lambda of a transformer
SELECT * APPLY(x -> (SELECT count() FROM url('{url}', 'LineAsString'))) FROM numbers(1)

-- s3
SELECT * FROM s3('{url}/bucket/key', 'CSV')

-- remote server
SELECT * FROM remote('127.0.0.1:9000', system.one)

-- cluster
SELECT * FROM cluster('default', system.one)

-- MySQL
SELECT * FROM mysql('127.0.0.1:3306', 'd', 't', 'u', 'p')

-- SQLite file
SELECT * FROM sqlite('{secret}', 't')

-- program
SELECT * FROM executable('cat {secret}', 'TSV', 'x String')

-- Python in this process
SELECT * FROM python('os')

-- the same, as chDB writes it
SELECT * FROM Python(sys)

-- statement in a text
SELECT * FROM eval('SELECT 1')

-- input
SELECT * FROM input('x String')

-- any table of any database
SELECT * FROM merge('system', '.*')

-- a table's index
SELECT * FROM mergeTreeIndex(currentDatabase(), 'runs')

-- loop without end
SELECT * FROM loop(currentDatabase(), 'runs')

-- fuzzer
SELECT * FROM fuzzQuery('SELECT 1', 500, 1)

-- random data of any shape
SELECT * FROM generateRandom('a String', 1, 1000000000)

-- explained
EXPLAIN SELECT file('{secret}')

-- explained as a table function
SELECT * FROM viewExplain('EXPLAIN', '', (SELECT file('{secret}')))

-- explained in FROM
SELECT * FROM (EXPLAIN SELECT file('{secret}'))

-- write the result to a file
SELECT 1 INTO OUTFILE '{out}'

-- the same with comments
SELECT 1 INTO/**/OUTFILE '{out}' FORMAT CSV

-- the same with a newline and options
SELECT 1 INTO
OUTFILE '{out}' TRUNCATE AND STDOUT COMPRESSION 'none'

-- write through a table function
INSERT INTO FUNCTION file('{out}', 'CSV', 'x String') SELECT 'x'

-- insert
INSERT INTO runs (project) VALUES ('x')

-- insert from a select
INSERT INTO runs SELECT * FROM runs

-- insert hidden behind WITH
WITH x AS (SELECT 1) INSERT INTO runs SELECT * FROM runs

-- second statement
SELECT 1; DROP TABLE runs

-- second statement after a comment
SELECT 1 /* ; */; TRUNCATE TABLE runs

-- two statements at once
SELECT 1 PARALLEL WITH DROP TABLE runs

-- create
CREATE TABLE x (a Int32) ENGINE = Memory

-- create a view that reads a file
CREATE VIEW x AS SELECT file('{secret}')

-- temporary table
CREATE TEMPORARY TABLE x (a Int32)

-- create a function
CREATE FUNCTION passAtK AS (n, c, k) -> 1

-- drop
DROP TABLE runs

-- truncate
TRUNCATE TABLE runs

-- rename
RENAME TABLE runs TO gone

-- exchange
EXCHANGE TABLES runs AND outcomes

-- alter
ALTER TABLE runs DELETE WHERE 1

-- lightweight delete
DELETE FROM runs WHERE 1

-- update
UPDATE runs SET result = 'pass' WHERE 1

-- optimize
OPTIMIZE TABLE runs FINAL

-- detach
DETACH TABLE runs PERMANENTLY

-- attach
ATTACH TABLE x FROM '{secret}' (a Int32) ENGINE = Memory

-- backup
BACKUP TABLE runs TO File('{out}')

-- restore
RESTORE ALL FROM File('{secret}')

-- kill the writer
KILL QUERY WHERE 1

-- kill mutations
KILL MUTATION WHERE 1

-- stop merges
SYSTEM STOP MERGES

-- shut down
SYSTEM SHUTDOWN

-- drop caches
SYSTEM DROP MARK CACHE

-- change a setting
SET readonly = 0

-- change a setting in the statement
SELECT 1 SETTINGS readonly = 0

-- in a subquery
SELECT * FROM (SELECT 1 SETTINGS readonly = 0)

-- a setting that holds an expression
SELECT count() FROM runs SETTINGS additional_table_filters = {'runs': 'file(\'{secret}\') != \'\''}

-- a setting that names a file
SELECT 1 SETTINGS output_format_schema = '{out}' FORMAT Protobuf

-- a setting that names a file, for a template
SELECT 1 FORMAT Template SETTINGS format_template_resultset = '{secret}'

-- another dialect
SELECT 1 SETTINGS dialect = 'prql'

-- allow more
SELECT 1 SETTINGS allow_introspection_functions = 1

-- more time
SELECT 1 SETTINGS max_execution_time = 1, max_untracked_memory = 1000000000000

-- use another database
USE system

-- grant
GRANT ALL ON *.* TO default

-- user
CREATE USER x

-- as somebody else
EXECUTE AS x SELECT 1

-- processes: other people's statements
SELECT query FROM system.processes

-- quoted
SELECT query FROM `system`.`processes`

-- double quoted, in other letters
SELECT * FROM "system"."query_log"

-- after IN
SELECT 'x' IN system.processes

-- as a value of an allowed table
SELECT ('x', 'y') IN system.tables

-- in a subquery of WHERE
SELECT 1 WHERE (SELECT count() FROM system.processes) > 0

-- in a join
SELECT 1 FROM runs AS r JOIN system.disks AS d ON 1 = 1

-- through the standard's schema
SELECT * FROM information_schema.tables

-- in capitals
SELECT * FROM INFORMATION_SCHEMA.TABLES

-- users
SELECT * FROM system.users

-- paths of tables
SELECT data_paths FROM system.tables

-- paths by star
SELECT * FROM system.tables

-- paths by a star with an alias
SELECT t.* FROM system.tables AS t

-- paths by a matcher
SELECT COLUMNS('path') FROM system.tables

-- paths by renaming columns
SELECT c FROM system.databases AS d(a, b, c, e, f, g)

-- paths in a subquery
SELECT * FROM (SELECT * FROM system.databases)

-- macros and settings of the server
SELECT getServerSetting('path')

-- the host
SELECT hostName()

-- the host in capitals
SELECT FQDN()

-- kernel
SELECT getOSKernelVersion()

-- free space
SELECT filesystemCapacity()

-- certificate
SELECT showCertificate()

-- headers of the request
SELECT getClientHTTPHeader('Authorization')

-- wait
SELECT sleep(3)

-- wait for each row
SELECT sleepEachRow(0.1) FROM numbers(100)

-- wait by name
SELECT arrayMap(sleepEachRow, [1])

-- wait, in other letters
SELECT SLEEP(3)

-- dictionary
SELECT dictGet('d', 'a', 1)

-- dictionary by name
SELECT arrayMap(dictHas, ['d'], [1])

-- dictionary as a table
SELECT * FROM dictionary('d')

-- table of a join
SELECT joinGet('j', 'a', 1)

-- model from a file
SELECT evalMLMethod('x', 1)

-- a language model over the network
SELECT aiGenerate('hello')

-- the same, its other name
SELECT AIGenerate('hello')

-- memory addresses
SELECT addressToSymbol(1)

-- log of the server
SELECT logTrace('x')

-- internal function
SELECT __getScalar('x')

-- format with a schema
SELECT formatRow('Template', 1)

-- throw
SELECT throwIf(1)

-- variables of MySQL
SELECT @@version_comment

-- names with line breaks that look like a tree
SELECT 1 AS `a
 TableExpression (children 1)
  TableIdentifier runs`

-- names with escapes
SELECT 1 AS `a\n Function`

-- names with a back quote
SELECT 1 AS `a``b`

-- names beyond ASCII, outside of quotes
SELECT ｆｉｌｅ('{secret}')

-- non-breaking space
SELECT file ('{secret}')

-- zero-width space
SELECT fi​le('{secret}')

-- a view of ours as a function
SELECT task_reliability(1, 2, 3)

-- a table function as a function
SELECT numbers(3)

-- lambda named like a function
WITH x -> file(x) AS f SELECT f('{secret}')

-- aggregate that writes formats
SELECT groupFormat('Template')(1)

-- combinator on what is no aggregate
SELECT fileIf('{secret}', 1)

-- DESCRIBE of a system table that is not listed
DESCRIBE TABLE system.processes

-- how a system table is made
SHOW CREATE TABLE default.x

-- process list
SHOW PROCESSLIST

-- grants
SHOW GRANTS

-- check
CHECK TABLE runs

-- an empty statement that is none
;

-- not SQL at all
file('{secret}')

-- a dictionary by its other functions
SELECT dictGetOrDefault('d', 'a', 1, 'x')

-- a dictionary's children
SELECT dictGetChildren('d', 1)

-- a dictionary is made
CREATE DICTIONARY d (id UInt64, a String) PRIMARY KEY id SOURCE(FILE(path '{secret}' format 'CSV')) LAYOUT(FLAT())

-- reload dictionaries
SYSTEM RELOAD DICTIONARIES

-- logs are flushed
SYSTEM FLUSH LOGS

-- a replica is dropped
SYSTEM DROP REPLICA 'r' FROM TABLE runs

-- a statement is killed by its id
KILL QUERY WHERE query_id = 'x' SYNC

-- a text of several statements with comments between them
SELECT 1 -- ;
; SELECT file('{secret}')

-- a nested comment
SELECT /* /* */ 1, */ file('{secret}')

-- a here-document as a text
SELECT $x$1$x$, file($x${secret}$x$)

-- a heredoc around the name of a file
SELECT * FROM file($$ {secret} $$)

-- hexadecimal text as a path
SELECT file(x'2f6574632f686f73746e616d65')

-- insert into the standard output of the server
INSERT INTO FUNCTION null('x String') SELECT file('{secret}')

-- insert into an address
INSERT INTO FUNCTION url('{url}', 'CSV', 'x String') SELECT 'x'

-- insert from a file
INSERT INTO runs FROM INFILE '{secret}' FORMAT CSV

-- insert of data in the statement
INSERT INTO runs FORMAT JSONEachRow {"project": "x"}

-- remote server with its own user
SELECT * FROM remoteSecure('127.0.0.1:9440', 'system', 'one', 'u', 'p')

-- an address that holds a template
SELECT * FROM url('{url}/{a,b}', 'LineAsString', 'x String')

-- addresses of a cluster
SELECT * FROM urlCluster('default', '{url}', 'LineAsString', 'x String')

-- files of a cluster
SELECT * FROM fileCluster('default', '{secret}', 'LineAsString', 'x String')

-- object storage of another maker
SELECT * FROM azureBlobStorage('{url}', 'c', 'b')

-- a public bucket
SELECT * FROM gcs('{url}/b/k', NOSIGN, 'LineAsString')

-- files of Hadoop
SELECT * FROM hdfs('hdfs://127.0.0.1:9000/x', 'TSV', 'x String')

-- a lake on disk
SELECT * FROM icebergLocal('{secret}')

-- another lake on disk
SELECT * FROM deltaLakeLocal('{secret}')

-- PostgreSQL
SELECT * FROM postgresql('127.0.0.1:5432', 'd', 't', 'u', 'p')

-- MongoDB
SELECT * FROM mongodb('127.0.0.1:27017', 'd', 'c', 'u', 'p', 'x String')

-- Redis
SELECT * FROM redis('127.0.0.1:6379', 'k', 'k String, v String')

-- a driver of ODBC
SELECT * FROM odbc('DSN=x', 'd', 't')

-- a driver of JDBC
SELECT * FROM jdbc('jdbc:x', 'd', 't')

-- a git log of the server
SELECT * FROM executable('git log', 'TSV', 'x String', (SELECT 1))

-- a table by the id of its storage
SELECT * FROM mergeTreeProjection(currentDatabase(), 'runs', 'p')

-- a named collection
SELECT * FROM s3(passhat_collection, filename = 'x')

-- named collections are made
CREATE NAMED COLLECTION c AS url = '{url}'

-- a view with a parameter that is a name
SELECT * FROM task_reliability(start = now(), end = now(), k = (SELECT * FROM url('{url}', 'LineAsString')))

-- a view with parameters from a file
SELECT * FROM reliability_cells(start = parseDateTimeBestEffort(file('{secret}')), end = now())

-- a view of another database with parameters
SELECT * FROM system.task_reliability(start = now(), end = now(), k = 3)

-- a view refreshed
SYSTEM REFRESH VIEW trials

-- a view changed
CREATE OR REPLACE VIEW trials AS SELECT 1

-- a column's default that reads
ALTER TABLE runs ADD COLUMN x String DEFAULT file('{secret}')

-- undrop
UNDROP TABLE runs

-- move a part
ALTER TABLE runs MOVE PARTITION ID 'x' TO DISK 'd'

-- freeze parts into a folder
ALTER TABLE runs FREEZE WITH NAME 'x'

-- parts fetched from elsewhere
ALTER TABLE runs FETCH PARTITION 'x' FROM '/x'

-- transaction
BEGIN TRANSACTION

-- a role
SET ROLE ALL

-- users shown
SHOW USERS

-- settings shown
SHOW SETTINGS LIKE '%password%'

-- functions shown with a filter that reads
SHOW FUNCTIONS LIKE file('{secret}')

-- an engine shown
SHOW ENGINES

-- a cluster shown
SHOW CLUSTERS

-- dictionaries shown
SHOW DICTIONARIES

-- the index of a table
SHOW INDEX FROM runs FROM system

-- parts of tables
SELECT path FROM system.parts

-- the log of the server
SELECT * FROM system.text_log

-- errors with stacks
SELECT * FROM system.stack_trace

-- settings of the process
SELECT * FROM system.server_settings

-- named collections
SELECT * FROM system.named_collections

-- the environment
SELECT * FROM system.build_options

-- a file by the query log of a handle
SELECT * FROM system.query_log

-- certificates
SELECT * FROM system.certificates

-- crash log
SELECT * FROM system.crash_log

-- a table of another database, aliased
SELECT p.* FROM system.processes p

-- a system table through a CTE of the same name
WITH tables AS (SELECT * FROM system.processes) SELECT * FROM tables

-- environment variables
SELECT getMacro('x')

-- macros of the server in a text
SELECT '{x}' || getMacro('shard')

-- a setting read that holds a secret
SELECT getSettingOrDefault('format_schema_path', '')

-- the tree of a statement that reads
EXPLAIN AST SELECT * FROM url('{url}')

-- the plan
EXPLAIN PLAN SELECT 1

-- the pipeline
EXPLAIN PIPELINE header = 1 SELECT file('{secret}')

-- syntax shown
EXPLAIN SYNTAX SELECT file('{secret}')

-- the estimate asks the engine
EXPLAIN ESTIMATE SELECT * FROM runs

-- table override
EXPLAIN TABLE OVERRIDE mysql('127.0.0.1:3306', 'd', 't', 'u', 'p') PARTITION BY x

-- the standard output and a file
SELECT 1 INTO OUTFILE '/dev/stdout' AND STDOUT

-- outfile that is appended
SELECT 1 INTO OUTFILE '{out}' APPEND FORMAT TSV

-- outfile with a compression
SELECT 1 INTO OUTFILE '{out}.gz' COMPRESSION 'gzip' LEVEL 1

-- outfile inside a subquery
SELECT * FROM (SELECT 1 INTO OUTFILE '{out}')

-- a format that writes a file
SELECT 1 FORMAT CapnProto SETTINGS format_schema = '{out}:x'

-- a format of Prometheus
SELECT 1 FORMAT Prometheus

-- a hash of the server's files
SELECT fileHash('{secret}')

-- a model of the machine
SELECT catboostEvaluate('{secret}', 1)

-- WebAssembly
CREATE FUNCTION f LANGUAGE WASM FROM 'x' ABI ROW_DIRECT

-- natural language
SELECT * FROM ai('all runs')

-- Kusto
SELECT * FROM kql($$ runs | take 1 $$)

-- a loop over a table
SELECT count() FROM loop(numbers(1))

-- a time series table function
SELECT * FROM timeSeriesData('x')

-- the content of another table by its id
SELECT * FROM `.inner_id.00000000-0000-0000-0000-000000000000`

-- a table of the default database, quoted in two ways
SELECT * FROM "default".`{secret}`

-- a file with a dot before it
SELECT * FROM _local.`{secret}`

-- a trailing comma and a table function
SELECT a, FROM file('{secret}', 'LineAsString', 'a String')

-- FROM first
FROM file('{secret}', 'LineAsString', 'a String') SELECT a

-- a tuple's element that is a function
SELECT tupleElement((file('{secret}'), 1), 1)

-- operator instead of a name
SELECT file('{secret}')::String

-- a cast to a type with an expression
SELECT CAST(file('{secret}') AS String)

-- a lambda passed by an alias
SELECT arrayFold((acc, x) -> acc || file(x), ['{secret}'], '')

-- an aggregate with a lambda
SELECT arrayReduce('groupArray', [file('{secret}')])

-- an aggregate named by a text
SELECT arrayReduce('count', [1]), arrayReduce(file('{secret}'), [1])

-- initialised by a text
SELECT initializeAggregation(file('{secret}'), 1)

-- a lambda in a window
SELECT lagInFrame(file('{secret}')) OVER () FROM numbers(2)

-- a parameter of an aggregate
SELECT quantile(length(file('{secret}')))(1)

-- LIMIT BY
SELECT 1 LIMIT 1 BY file('{secret}')

-- OFFSET
SELECT number FROM numbers(2) LIMIT 1 OFFSET length(file('{secret}'))

-- SAMPLE from a table function
SELECT * FROM (SELECT * FROM file('{secret}', 'LineAsString')) SAMPLE 1/2

-- ASOF JOIN with a table function
SELECT 1 FROM numbers(1) AS a ASOF JOIN url('{url}', 'CSV', 'x UInt64') AS b ON a.number >= b.x

-- PASTE JOIN
SELECT * FROM numbers(1) PASTE JOIN file('{secret}', 'LineAsString')

-- GLOBAL IN
SELECT 1 GLOBAL IN (SELECT * FROM remote('127.0.0.1', system.one))

-- CROSS JOIN by a comma
SELECT * FROM numbers(1), file('{secret}', 'LineAsString')

-- recursive CTE that reads
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT length(file('{secret}')) FROM r WHERE n < 2) SELECT * FROM r
