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
