-- How large is the store? Rows and bytes on disk by table, as they lie (repeated deliveries count until merged).
SELECT name AS table, total_rows AS rows, total_bytes AS bytes
FROM system.tables
WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND total_rows > 0
ORDER BY bytes DESC, table
